// Who counts as one client: an IPv4 address, or the /64 network of an IPv6 address, of which one host has every address.
import ipaddr from "ipaddr.js";

export const networkOf = (address: string): string => {
  const plain = address.replace(/%.*$/, "");
  if (!ipaddr.isValid(plain)) return address;
  const parsed = ipaddr.process(plain);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
};
