// Does what may take its time, a small part at a time, so that nobody else notices it: replays, and change requests whose time has come.
import type { WorkerLog } from "./worker.ts";

/** Milliseconds between two parts, and between two looks while there is nothing to continue. */
const pause = 250;
const idlePause = 1_000;
/** A pause that took so many milliseconds longer means that the process is busy: a part waits, but not for ever. */
const busyBy = 50;
const skipAtMost = 20;

export interface Pacer {
  close(): Promise<void>;
}

/** `doNext` does a part; false when there is none. `complaint` begins the line that tells of a failure. */
export const startPacer = (
  doNext: () => Promise<boolean>,
  log: WorkerLog,
  complaint: string,
): Pacer => {
  let isFailing = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let closed = false;

  const step = async (): Promise<void> => {
    let isBusy = false;
    try {
      isBusy = await doNext();
      isFailing = false;
    } catch (err) {
      if (!isFailing) log.warn({ err }, `${complaint}; it is tried again`);
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
