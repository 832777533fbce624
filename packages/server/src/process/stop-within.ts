// The last word of a process that was told to stop: it ends in time, whatever still hangs.
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";

/** Milliseconds from the wish to stop to the end, beside those in which the server goes on serving. */
const patience = 20_000;

/** Nothing that was answered is lost by it: it is in the store, and leases run out by themselves. */
export const stopWithin = async (
  { shutdownDelay }: Config,
  log: Logger,
  close: () => Promise<void>,
): Promise<void> => {
  const tooLate = setTimeout(() => {
    log.warn({ seconds: patience / 1_000 }, "not everything could be ended in time; stopping now");
    process.exit(0);
  }, patience + shutdownDelay);
  try {
    await close();
  } finally {
    clearTimeout(tooLate);
  }
};
