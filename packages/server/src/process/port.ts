// The port that is listened on: its address, whether it is free, and what to tell the operator when it is not.
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { type AddressInfo, BoundSocket, createServer } from "node:net";
import { StartupProblem } from "../platform/errors.ts";
import type { Config } from "./settings/config.ts";
import type { FlagdSettings } from "./settings/flagd-settings.ts";

/**
 * Whether several processes can listen on one port and the system distributes the connections among them. Others have
 * the option too, but there the last process to listen gets every connection, or Node refuses it.
 */
export const systemBalancesConnections =
  process.platform === "linux" || process.platform === "freebsd";

/** A port to listen on, and the setting that says which. */
export interface PortSettings extends Pick<Config, "host" | "port"> {
  readonly setting?: "PORT" | "HALYARD_FLAGD_PORT";
}

export const flagdPort = (
  { host }: Pick<Config, "host">,
  { port }: Pick<FlagdSettings, "port">,
): PortSettings => ({ host, port, setting: "HALYARD_FLAGD_PORT" });

/** Fastify would open a second server for the other address of `localhost`, which nothing else knows of. */
export const resolveHost = async ({ host }: Pick<Config, "host">): Promise<string> =>
  host === "localhost" ? (await lookup(host)).address : host;

/** A port for several processes. */
export interface ReservedPort {
  readonly port: number;
  /** Call it once the processes listen. */
  release(): void;
}

/**
 * Processes that share a port would also share it with another Halyard of the same user, unnoticed. So this process
 * listens on it alone first, which fails when the port is taken. It then keeps a socket that is bound but does not
 * listen: it gets no connections, and the system gives a port that it chose (PORT=0) to nobody else.
 */
export const reservePort = (config: PortSettings): Promise<ReservedPort> =>
  explainListenErrors(config, async () => {
    const probe = createServer();
    probe.listen({ host: await resolveHost(config), port: config.port, exclusive: true });
    await once(probe, "listening");
    const { address: host, port } = probe.address() as AddressInfo;
    probe.close();
    await once(probe, "close");
    if (!systemBalancesConnections) return { port, release: () => {} };
    const bound = new BoundSocket({ host, port, reusePort: true });
    return { port, release: () => bound.close() };
  });

/** Turns what the operator can set right into a sentence that says how. */
export const explainListenErrors = async <T>(
  { host, port, setting = "PORT" }: PortSettings,
  start: () => Promise<T>,
): Promise<T> => {
  try {
    return await start();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const problem = {
      EADDRINUSE: `Port ${port} on ${host} is already in use: stop the program that uses it, or choose another with ${setting}.`,
      EACCES: `Port ${port} may not be used by this user: choose one above 1023 with ${setting}.`,
      EADDRNOTAVAIL: `${host} is not an address of this machine: choose another with HOST.`,
      ENOTFOUND: `The host name ${host} cannot be resolved: choose another with HOST.`,
    }[String(code)];
    throw problem ? new StartupProblem(problem) : error;
  }
};
