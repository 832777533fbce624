// Ends a process that was asked to stop within a time limit, whatever still hangs.
import type { Logger } from "pino";
import type { Config } from "./settings/config.ts";

/** Milliseconds, beside the shutdown delay. */
const timeout = 20_000;

/** Nothing that was answered is lost: it is in the store, and leases expire by themselves. */
export const stopWithin = async (
  { shutdownDelay }: Config,
  log: Logger,
  close: () => Promise<void>,
): Promise<void> => {
  const tooLate = setTimeout(() => {
    log.warn({ seconds: timeout / 1_000 }, "not everything stopped in time; exiting now");
    process.exit(0);
  }, timeout + shutdownDelay);
  try {
    await close();
  } finally {
    clearTimeout(tooLate);
  }
};
