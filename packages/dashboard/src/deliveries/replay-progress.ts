// Replays a range of events, and follows how many of them are queued and completed.
import type { Management, ManagementError, ReplayRange } from "@halyard/sdk/management";

export interface ReplayProgress {
  readonly queued: number;
  readonly failed: number;
  /** Neither delivered nor failed. */
  readonly pending: number;
  /** False while the server queues further parts. */
  readonly complete: boolean;
}

export type ReplayOutcome =
  | { readonly ok: true; readonly queued: number }
  | { readonly ok: false; readonly error: ManagementError };

interface Following {
  readonly management: Management;
  readonly webhookId: string;
  readonly range: ReplayRange;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ReplayProgress) => void;
}

const pollEvery = 700;

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", stop, { once: true });
  });

/** Ends when all are completed, when the signal aborts, or with the first error. */
export const followReplay = async ({
  management: { webhooks },
  webhookId,
  range,
  signal,
  onProgress,
}: Following): Promise<ReplayOutcome> => {
  let replay = await webhooks.replay(webhookId, range, { signal });
  while (replay.ok && !signal.aborted) {
    const { replayed: queued, pending, failed, state } = replay.value;
    const complete = state !== "running";
    if (queued > 0) onProgress({ queued, pending, failed, complete });
    if (complete && pending === 0) break;
    await pause(pollEvery, signal);
    replay = await webhooks.replayProgress(webhookId, { signal });
  }
  return replay.ok ? { ok: true, queued: replay.value.replayed } : replay;
};
