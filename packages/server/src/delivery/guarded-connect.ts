// Connects to a callback's host: the name is looked up once, every address checked, and the one used checked again.
import { buildConnector } from "undici";
import {
  type CallbackPolicy,
  checkCallbackUrl,
  checkResolved,
  refuseAddress,
} from "../domain/callback-address.ts";
import type { LookUp } from "../ports.ts";

export const connectTimeout = 5_000;

/** The callback may not go there; the message says why. */
export class RefusedAddress extends Error {
  override readonly name = "RefusedAddress";
}

type Connector = ReturnType<typeof buildConnector>;
type Options = Parameters<Connector>[0];

export const createGuardedConnect = (policy: CallbackPolicy, lookUp: LookUp): Connector => {
  const connect = buildConnector({
    timeout: connectTimeout,
    minVersion: "TLSv1.2",
    rejectUnauthorized: true,
  });

  /** An address that may be called, and whether the name as such was opened by the operator. */
  const choose = async (url: URL): Promise<{ address: string; opened: boolean }> => {
    const target = checkCallbackUrl(policy, url.href);
    if (!target.ok) throw new RefusedAddress(target.failure.message);
    const { host } = target.value;
    if (host.kind === "address") return { address: host.address, opened: false };
    const addresses = await lookUp(host.name);
    const checked = checkResolved(policy, target.value, addresses);
    if (!checked.ok) throw new RefusedAddress(checked.failure.message);
    const [address] = addresses;
    if (address === undefined) {
      throw Object.assign(new Error("the name has no address"), { code: "ENOTFOUND" });
    }
    return { address, opened: host.allowed };
  };

  return (options: Options, callback) => {
    const url = new URL(`${options.protocol}//${options.host ?? options.hostname}`);
    choose(url).then(
      ({ address, opened }) => {
        const isName = url.hostname.replace(/^\[|\]$/g, "") !== address;
        const pinned = {
          ...options,
          hostname: address,
          ...(isName && { servername: url.hostname }),
        };
        connect(pinned, (...[error, socket]) => {
          if (error !== null || socket === null) {
            callback(error ?? new Error("no connection"), null);
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
      },
      (error: Error) => {
        callback(error, null);
      },
    );
  };
};
