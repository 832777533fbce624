// The process: settings, composition, listening, signals.

import { startCluster } from "./process/cluster.ts";
import { dashboardAddress, makeFirstKeys } from "./process/first-keys.ts";
import { closeAfterFailure, openListening, type Server } from "./process/listening.ts";
import { createLog } from "./process/log.ts";
import type { Config } from "./process/settings/config.ts";
import { stopSignal } from "./process/stop-signal.ts";
import { stopWithin } from "./process/stop-within.ts";
import type { InstanceOptions } from "./server/instance.ts";

export const startServer = async (
  config: Config,
  options: InstanceOptions = {},
): Promise<Server> => {
  const log = createLog(config);
  // Keys are shown only once: it listens first, so that no start that fails has created any.
  const { instance, url, flagd } = await openListening(config, log, options);
  try {
    const firstKeys = await makeFirstKeys(config, instance, log);
    const dashboard = await dashboardAddress(config, instance.signInLinks, url);
    return { url, flagd, firstKeys, dashboard, close: () => instance.close(config.shutdownDelay) };
  } catch (error) {
    await closeAfterFailure(instance, log);
    throw error;
  }
};

/** Serves until SIGTERM or SIGINT, finishes the running requests, and returns. A second signal ends the process at once. */
export const serveUntilSignal = async (
  config: Config,
  started: (server: Server) => void,
): Promise<void> => {
  const signalled = stopSignal();
  const server = await (config.workers === 1 ? startServer(config) : startCluster(config));
  started(server);
  await signalled;
  // Each worker has its own time limit, and the primary waits for them.
  if (config.workers > 1) await server.close();
  else await stopWithin(config, createLog(config), () => server.close());
};
