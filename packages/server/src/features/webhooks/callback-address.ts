// Whether a callback may go to a URL and an address. Decided from values; the caller resolves names.
import ipaddr from "ipaddr.js";
import { invalid, ok, type Result } from "../../platform/errors.ts";

export const maxCallbackUrlLength = 2_048;

export type AllowedPlace =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "network"; readonly address: string; readonly bits: number };

export interface CallbackPolicy {
  /** A developer's machine: loopback may be called, in plain http too, and no port is refused. */
  readonly loopback: boolean;
  readonly ports: readonly number[];
  readonly allow: readonly AllowedPlace[];
}

/** Where a URL points: to an address at once, or to a name that has to be resolved first. */
export type CallbackTarget = {
  readonly url: URL;
  readonly host:
    | { readonly kind: "address"; readonly address: string }
    | { readonly kind: "name"; readonly name: string; readonly allowed: boolean };
};

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A cloud's wire server that no list of special networks names. */
const wireServer = "168.63.129.16";

const publicV6 = ipaddr.IPv6.parseCIDR("2000::/3");
const specialV6 = ["2002::/16", "2001::/23", "2001:db8::/32", "3fff::/20"].map((network) =>
  ipaddr.IPv6.parseCIDR(network),
);

/** The effective address: a mapped IPv4 address is unwrapped. Translated forms (NAT64) stay outside 2000::/3. */
const parseAddress = (text: string): Address | undefined => {
  const plain = text.replace(/%.*$/, "");
  if (!ipaddr.isValid(plain)) return undefined;
  const address = ipaddr.parse(plain);
  if (address instanceof ipaddr.IPv4) return address;
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
};

const hostnameOf = ({ hostname }: URL): string =>
  hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();

const isPublic = (address: Address): boolean => {
  if (address instanceof ipaddr.IPv4) {
    return address.range() === "unicast" && address.toString() !== wireServer;
  }
  return address.match(publicV6) && !specialV6.some((network) => address.match(network));
};

const isLoopback = (address: Address): boolean => address.range() === "loopback";

const isOpened = (policy: CallbackPolicy, address: Address): boolean =>
  policy.allow.some((place) => {
    if (place.kind !== "network") return false;
    const network = ipaddr.parse(place.address);
    if (address instanceof ipaddr.IPv4) {
      return network instanceof ipaddr.IPv4 && address.match([network, place.bits]);
    }
    return network instanceof ipaddr.IPv6 && address.match([network, place.bits]);
  });

const isOpenedName = (policy: CallbackPolicy, name: string): boolean =>
  policy.allow.some(
    (place) =>
      place.kind === "name" &&
      (place.name.startsWith("*.") ? name.endsWith(place.name.slice(1)) : name === place.name),
  );

/** Names that mean something only inside a network, and in each network something else. */
const isPrivateName = (name: string): boolean =>
  !name.includes(".") || /\.(internal|local|localhost|home\.arpa)$/.test(name);

/** Short, octal and mapped notations are refused: `10.1/16` and `010.1.0.0/16` mean other networks than most people think. */
const isPlainAddress = (text: string): boolean =>
  ipaddr.IPv4.isValidFourPartDecimal(text) ||
  (ipaddr.IPv6.isValid(text) &&
    !text.includes("%") &&
    !ipaddr.IPv6.parse(text).isIPv4MappedAddress());

/** `10.1.0.0/16`, `10.1.2.3`, `hooks.internal` or `*.hooks.internal`; undefined when it is none of them. */
export const parseAllowedPlace = (text: string): AllowedPlace | undefined => {
  if (isPlainAddress(text.replace(/\/.*$/s, ""))) {
    const isV4 = !text.includes(":");
    const network = text.includes("/") ? text : `${text}/${isV4 ? 32 : 128}`;
    if (!ipaddr.isValidCIDR(network)) return undefined;
    const [address, bits] = ipaddr.parseCIDR(network);
    return { kind: "network", address: address.toString(), bits };
  }
  const isName = /^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/i;
  return isName.test(text) && !/(^|\.)(\d+|0x[0-9a-f]*)$/i.test(text)
    ? { kind: "name", name: text.toLowerCase() }
    : undefined;
};

export const refusedUrl = (message: string): Result<never> => invalid("url", message);

/** Parses the URL and refuses what is wrong whatever address it resolves to. */
export const checkCallbackUrl = (policy: CallbackPolicy, text: string): Result<CallbackTarget> => {
  const example = policy.loopback
    ? "such as https://example.com/hook or http://127.0.0.1:9000/hook"
    : "such as https://example.com/hook";
  if (text.length > maxCallbackUrlLength) {
    return refusedUrl(`must be at most ${maxCallbackUrlLength} characters long`);
  }
  if (/[\s\p{Cc}\\]/u.test(text) || !/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) {
    return refusedUrl(`must be a complete https address, ${example}`);
  }
  const url = new URL(text);
  if (url.username !== "" || url.password !== "" || /^https?:\/\/[^/?#]*@/i.test(text)) {
    return refusedUrl("must not carry a user name or a password; the signature proves who sent it");
  }
  if (text.includes("#")) {
    return refusedUrl("must not carry a fragment (the part from # on), which is never sent");
  }

  const hostname = hostnameOf(url);
  if (hostname.split(".").includes("")) {
    return refusedUrl(`must be a complete https address, ${example}`);
  }
  if (parseAddress(hostname)) {
    const address = { kind: "address", address: hostname } as const;
    const reason = refuseAddress(policy, url, hostname);
    return reason === undefined ? ok({ url, host: address }) : refusedUrl(reason);
  }
  const allowed = isOpenedName(policy, hostname);
  if (!allowed) {
    if (isPrivateName(hostname) && !(policy.loopback && hostname === "localhost")) {
      return refusedUrl(
        `must not go to ${hostname}, which is a name of a private network; the operator can allow it with HALYARD_CALLBACK_ALLOW`,
      );
    }
    const port = refusePort(policy, url);
    if (port !== undefined) return refusedUrl(port);
    if (url.protocol === "http:" && !policy.loopback) return refusedUrl(onlyHttps);
  }
  return ok({ url, host: { kind: "name", name: hostname, allowed } });
};

const onlyHttps = "must begin with https://; plain http is refused here";

const refusePort = (policy: CallbackPolicy, url: URL): string | undefined => {
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  if (policy.loopback || policy.ports.includes(port)) return undefined;
  if (url.protocol === "http:") return onlyHttps;
  return `must use one of the ports ${policy.ports.join(", ")}, not ${port}; the operator can allow more with HALYARD_CALLBACK_PORTS`;
};

/**
 * Why a callback to this URL may not go to this address, or undefined when it may. The address that a name resolves to is
 * not in it: the inside of a network is not for whoever may register a webhook.
 */
export const refuseAddress = (
  policy: CallbackPolicy,
  url: URL,
  addressText: string,
): string | undefined => {
  const address = parseAddress(addressText);
  if (address && isOpened(policy, address)) return undefined;
  if (address && policy.loopback && isLoopback(address)) return undefined;
  if (!address || !isPublic(address)) {
    const host = hostnameOf(url);
    const what =
      address && parseAddress(host)
        ? `${addressText}, which is not a public address (${describe(address)})`
        : `${host}, which does not resolve to public addresses only`;
    return `must not go to ${what}; the operator can allow it with HALYARD_CALLBACK_ALLOW`;
  }
  if (url.protocol === "http:") {
    return policy.loopback
      ? "must begin with https://; plain http is for loopback only"
      : onlyHttps;
  }
  return refusePort(policy, url);
};

const describe = (address: Address): string => {
  if (address instanceof ipaddr.IPv4 && address.toString() === wireServer) return "reserved";
  const range = address.range();
  return range === "unicast" ? "reserved" : range.replace(/([A-Z])/g, " $1").toLowerCase();
};

/** A name may be called when all its addresses may. */
export const checkResolved = (
  policy: CallbackPolicy,
  target: CallbackTarget,
  addresses: readonly string[],
): Result<void> => {
  if (target.host.kind === "name" && target.host.allowed) return ok(undefined);
  if (addresses.length === 0 && target.url.protocol === "http:") {
    return refusedUrl(
      "must begin with https://; plain http is for loopback only, and this name does not resolve to it",
    );
  }
  for (const address of addresses) {
    const reason = refuseAddress(policy, target.url, address);
    if (reason !== undefined) return refusedUrl(reason);
  }
  return ok(undefined);
};
