// Continues what is large, a small part at a time: it may take its time, and nobody else is to notice it.
import type { WorkerLog } from "./log.ts";

/** Milliseconds between two parts, and between two looks while there is nothing to continue. */
const pause = 250;
const idlePause = 1_000;
/** A pause that took so many milliseconds longer means that the process is busy: a part waits, but not for ever. */
const busyBy = 50;
const skipAtMost = 20;

export interface Pacer {
  close(): Promise<void>;
}

/** `continueNext` does a part; false when there is none. `what` names it in the log. */
export const startPacer = (
  continueNext: () => Promise<boolean>,
  what: string,
  log: WorkerLog,
): Pacer => {
  let isFailing = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let closed = false;

  const step = async (): Promise<void> => {
    let isBusy = false;
    try {
      isBusy = await continueNext();
      isFailing = false;
    } catch (err) {
      if (!isFailing) log.warn({ err }, `${what} cannot be continued; it is tried again`);
      isFailing = true;
    }
    if (!closed) plan(isBusy ? pause : idlePause);
  };
  let skipped = 0;
  const plan = (milliseconds: number): void => {
    const due = performance.now() + milliseconds;
    timer = setTimeout(() => {
      const isBusy = performance.now() - due > busyBy && skipped < skipAtMost;
      skipped = isBusy ? skipped + 1 : 0;
      if (isBusy) plan(pause);
      else running = step();
    }, milliseconds).unref();
  };
  plan(0);

  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
};
