// Keeps process.nextTick fast for as long as the process lives.
import { executionAsyncResource } from "node:async_hooks";

/** One entry of the tick queue. */
let kept: object | undefined;

/**
 * Node calls process.nextTick about eight times per request. V8 optimises how an entry of its queue is created, and drops that
 * for good when a garbage collection finds no entry alive: from then on a call takes ten times as long. So one entry is
 * kept alive from the start.
 */
export const keepNextTickFast = (): Promise<object> =>
  new Promise((resolve) => {
    process.nextTick(() => {
      kept ??= executionAsyncResource();
      resolve(kept);
    });
  });
