// Keeps process.nextTick fast for as long as the process lives.
import { executionAsyncResource } from "node:async_hooks";

/** One entry of the queue. */
let kept: object | undefined;

/**
 * Node calls process.nextTick about eight times for a request. The engine makes that fast once it knows how an entry of the
 * queue is built, and forgets it for good when a garbage collection finds no entry: from then on a call takes ten times as
 * long. So one of them is kept, from the start.
 */
export const keepNextTickFast = (): Promise<object> =>
  new Promise((resolve) => {
    process.nextTick(() => {
      kept ??= executionAsyncResource();
      resolve(kept);
    });
  });
