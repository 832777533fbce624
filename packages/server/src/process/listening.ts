// Starts one instance: composed and listening, with nothing created in the store yet.
import type { Logger } from "pino";
import type { FirstKey } from "../features/environments/bootstrap.ts";
import type { Instance, InstanceOptions } from "../server/instance.ts";
import { composeInstance } from "../server.ts";
import { explainListenErrors, flagdPort, resolveHost } from "./port.ts";
import type { Config } from "./settings/config.ts";

export interface DashboardAddress {
  readonly url: string;
  /** Whether the address signs in whoever opens it first, within ten minutes. */
  readonly signsIn: boolean;
}

export interface Server {
  /** Where it listens, such as http://127.0.0.1:4400. */
  readonly url: string;
  /** Where it listens for flagd, such as 127.0.0.1:4403; undefined when it does not. */
  readonly flagd?: string | undefined;
  /** The keys created at this start, when the store was empty. They cannot be read again. */
  readonly firstKeys: readonly FirstKey[];
  readonly dashboard: DashboardAddress | undefined;
  close(): Promise<void>;
}

/** For a start that fails: its own reason is the one to report. */
export const closeAfterFailure = (instance: Pick<Instance, "close">, log: Logger): Promise<void> =>
  instance
    .close()
    .catch((err) => log.warn({ err }, "the start failed, and not everything could be closed"));

export interface ListeningInstance {
  readonly instance: Instance;
  /** Where it listens, such as http://127.0.0.1:4400. */
  readonly url: string;
  /** Where it listens for flagd; undefined when it does not. */
  readonly flagd: string | undefined;
}

/** Connections that the system queues until they are accepted. Beyond Node's default of 511, clients of a burst would wait a second. */
const backlog = 4_096;

/** `reusePort`: other processes listen on the same port, and the system distributes the connections. */
export const openListening = async (
  config: Config,
  log: Logger,
  instanceOptions: InstanceOptions = {},
  reusePort = false,
): Promise<ListeningInstance> => {
  const instance = await composeInstance(config, log, instanceOptions);
  try {
    const { flagdServer } = instance;
    const options = { host: await resolveHost(config), backlog, reusePort };
    await explainListenErrors(config, () => instance.app.listen({ ...options, port: config.port }));
    const address = instance.app.server.address();
    const port = typeof address === "object" && address ? address.port : config.port;
    const host = config.host.includes(":") ? `[${config.host}]` : config.host;
    let flagd: string | undefined;
    if (flagdServer && config.flagd) {
      const wanted = flagdPort(config, config.flagd);
      const flagdOptions = { ...options, port: wanted.port };
      flagd = `${host}:${await explainListenErrors(wanted, () => flagdServer.listen(flagdOptions))}`;
      log.info(`Listening for flagd at ${flagd}`);
    }
    return { instance, url: `http://${host}:${port}`, flagd };
  } catch (error) {
    await closeAfterFailure(instance, log);
    throw error;
  }
};
