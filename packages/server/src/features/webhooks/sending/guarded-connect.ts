// Connects to a callback's host: resolves the name once, checks every address, and checks the connected one again.
import { isIPv6 } from "node:net";
import type { buildConnector } from "undici";
import type { LookUp } from "../../../platform/database/store.ts";
import {
  type CallbackPolicy,
  checkCallbackUrl,
  checkResolved,
  refuseAddress,
} from "../callback-address.ts";

export const connectTimeout = 5_000;

/** The callback must not be sent there; the message says why. */
export class RefusedAddress extends Error {
  override readonly name = "RefusedAddress";
}

type Connector = ReturnType<typeof buildConnector>;
type Options = Parameters<Connector>[0];

export const createGuardedConnect = (
  build: typeof buildConnector,
  policy: CallbackPolicy,
  lookUp: LookUp,
  timeout = connectTimeout,
): Connector => {
  const connect = build({
    timeout,
    minVersion: "TLSv1.2",
    rejectUnauthorized: true,
  });

  /** Addresses that may be called, and whether the operator has allowed the name itself. */
  const choose = async (url: URL): Promise<{ addresses: string[]; opened: boolean }> => {
    const target = checkCallbackUrl(policy, url.href);
    if (!target.ok) throw new RefusedAddress(target.failure.message);
    const { host } = target.value;
    if (host.kind === "address") return { addresses: [host.address], opened: false };
    const found = await lookUp(host.name);
    const checked = checkResolved(policy, target.value, found);
    if (!checked.ok) throw new RefusedAddress(checked.failure.message);
    const [first] = found;
    if (first === undefined) {
      throw Object.assign(new Error("the name has no address"), { code: "ENOTFOUND" });
    }
    // An address of the other family, for networks where only IPv4 or only IPv6 works.
    const other = found.find((address) => isIPv6(address) !== isIPv6(first));
    return { addresses: other === undefined ? [first] : [first, other], opened: host.allowed };
  };

  return (options: Options, callback) => {
    const url = new URL(`${options.protocol}//${options.host ?? options.hostname}`);
    const connectTo = ([address = "", ...others]: readonly string[], opened: boolean): void => {
      const isName = url.hostname.replace(/^\[|\]$/g, "") !== address;
      const pinned = {
        ...options,
        hostname: address,
        ...(isName && { servername: url.hostname }),
      };
      connect(pinned, (...[error, socket]) => {
        if (error !== null || socket === null) {
          if (others.length > 0) connectTo(others, opened);
          else callback(error ?? new Error("no connection"), null);
          return;
        }
        const reached = socket.remoteAddress ?? "";
        const reason = opened ? undefined : refuseAddress(policy, url, reached);
        if (reason === undefined) {
          callback(null, socket);
          return;
        }
        socket.destroy();
        callback(new RefusedAddress(`url ${reason}`), null);
      });
    };
    choose(url).then(
      ({ addresses, opened }) => {
        connectTo(addresses, opened);
      },
      (error: Error) => {
        callback(error, null);
      },
    );
  };
};
