// Replays a range of events, and follows how many of them are queued and completed.
import type { Delivery, Management, ManagementError, ReplayRange } from "@halyard/sdk";

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

const pageSize = 1_000;
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
  /** The deliveries of this replay in a state. The log is newest first, so an older one ends the search. */
  const count = async (state: Delivery["state"], since: string) => {
    let found = 0;
    for await (const page of webhooks.deliveryPages(webhookId, { state, limit: pageSize })) {
      if (!page.ok) return page;
      found += page.value.filter(
        (each) => each.kind === "replay" && each.createdAt >= since,
      ).length;
      if (page.value.some(({ createdAt }) => createdAt < since)) break;
    }
    return { ok: true, value: found } as const;
  };

  const begun = await webhooks.replay(webhookId, range, { signal });
  if (!begun.ok) return begun;
  const since = begun.value.startedAt;
  let replay = begun.value;
  while (!signal.aborted) {
    if (!replay.complete) {
      const progress = await webhooks.replayProgress(webhookId, { signal });
      if (!progress.ok) return progress;
      replay = progress.value;
    }
    const { replayed: queued, state } = replay;
    const pending = await count("pending", since);
    if (!pending.ok) return pending;
    const failed = await count("failed", since);
    if (!failed.ok) return failed;
    const complete = state !== "running";
    if (queued > 0) {
      onProgress({ queued, pending: pending.value, failed: failed.value, complete });
    }
    if (complete && pending.value === 0) break;
    await pause(pollEvery, signal);
  }
  return { ok: true, queued: replay.replayed };
};
