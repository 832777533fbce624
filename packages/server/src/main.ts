// The process: settings, composition, listening, signals.

import { composeInstance, type World } from "./compose.ts";
import type { Config } from "./config.ts";
import { StartupProblem } from "./errors.ts";
import { createLog } from "./log.ts";
import type { FirstKey } from "./management/environments.ts";

export interface Server {
  /** Where it listens, such as http://127.0.0.1:4400. */
  readonly url: string;
  /** The keys made at this start, when the store was empty. Nobody can read them again. */
  readonly firstKeys: readonly FirstKey[];
  close(): Promise<void>;
}

export const startServer = async (config: Config, world: World = {}): Promise<Server> => {
  const log = createLog(config.logLevel);
  for (const name of config.unknown)
    log.warn({ setting: name }, "this setting is not known; is it misspelt?");
  const instance = await composeInstance(config, log, world);
  try {
    // Listening comes first: keys are shown once, so they are not to be made by a start that then fails.
    await listen(() => instance.app.listen({ host: config.host, port: config.port }), config);
    const first = await instance.environments.bootstrap(config.bootstrapKeys);
    if (!first.ok) throw new StartupProblem(first.failure.message);
    for (const webhook of await instance.unreadableSecrets()) {
      log.error({ webhook }, "nothing can be sent: its secret needs a key that is not here");
    }
    const address = instance.app.server.address();
    const port = typeof address === "object" && address ? address.port : config.port;
    const host = config.host.includes(":") ? `[${config.host}]` : config.host;
    return { url: `http://${host}:${port}`, firstKeys: first.value, close: () => instance.close() };
  } catch (error) {
    await instance.close();
    throw error;
  }
};

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

const sameWish = 500;

/** Serves until SIGTERM or SIGINT, answers what was asked before it, and comes back. A second signal ends at once. */
export const serveUntilSignal = async (
  config: Config,
  started: (server: Server) => void,
): Promise<void> => {
  const { promise: signalled, resolve } = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const onSignal = () => {
    firstAt ??= performance.now();
    // A terminal or a supervisor may send the same signal by two ways: that is one wish, not two.
    if (performance.now() - firstAt > sameWish) process.exit(1);
    resolve();
  };
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal);
  const server = await startServer(config);
  started(server);
  await signalled;
  await server.close();
};
