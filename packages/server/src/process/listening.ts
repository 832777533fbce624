// One instance that listens: composed, its port open, nothing made in the store yet.
import { lookup } from "node:dns/promises";
import type { Logger } from "pino";
import { composeInstance, type Instance, type TestOverrides } from "../compose/server.ts";
import type { Config } from "../config/config.ts";
import { StartupProblem } from "../errors.ts";
import type { FirstKey } from "../management/environments.ts";
import { keepNextTickFast } from "./next-tick-workaround.ts";

export interface DashboardAddress {
  readonly url: string;
  /** Whether the address signs in whoever opens it first, within ten minutes. */
  readonly signsIn: boolean;
}

export interface Server {
  /** Where it listens, such as http://127.0.0.1:4400. */
  readonly url: string;
  /** The keys made at this start, when the store was empty. Nobody can read them again. */
  readonly firstKeys: readonly FirstKey[];
  readonly dashboard: DashboardAddress | undefined;
  close(): Promise<void>;
}

export interface ListeningInstance {
  readonly instance: Instance;
  /** Where it listens, such as http://127.0.0.1:4400. */
  readonly url: string;
}

/** Connections that the system keeps until they are taken. Beyond Node's own 511, many who come at once would wait a second. */
const backlog = 4_096;

export const openListening = async (
  config: Config,
  log: Logger,
  overrides: TestOverrides = {},
): Promise<ListeningInstance> => {
  await keepNextTickFast();
  const instance = await composeInstance(config, log, overrides);
  try {
    await listen(async () => {
      const host = await oneAddressOf(config.host);
      await instance.app.listen({ host, port: config.port, backlog });
    }, config);
    const address = instance.app.server.address();
    const port = typeof address === "object" && address ? address.port : config.port;
    const host = config.host.includes(":") ? `[${config.host}]` : config.host;
    return { instance, url: `http://${host}:${port}` };
  } catch (error) {
    await instance.close();
    throw error;
  }
};

/** The framework would open a second server for the other address of `localhost`, of which nobody else knows. */
const oneAddressOf = async (host: string): Promise<string> =>
  host === "localhost" ? (await lookup(host)).address : host;

const listen = async (start: () => Promise<unknown>, { host, port }: Config): Promise<void> => {
  try {
    await start();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const problem = {
      EADDRINUSE: `Port ${port} on ${host} is already in use: stop the program that uses it, or choose another with PORT.`,
      EACCES: `Port ${port} may not be used by this user: choose one above 1023 with PORT.`,
      EADDRNOTAVAIL: `${host} is not an address of this machine: choose another with HOST.`,
      ENOTFOUND: `The host name ${host} cannot be resolved: choose another with HOST.`,
    }[String(code)];
    throw problem ? new StartupProblem(problem) : error;
  }
};
