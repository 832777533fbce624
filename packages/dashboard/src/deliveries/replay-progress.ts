// Replays a range of events in parts, and follows how many of them are completed.
import type { Delivery, Management, ManagementError, ReplayRange } from "@halyard/sdk";

export interface ReplayProgress {
  readonly queued: number;
  readonly failed: number;
  /** Neither delivered nor failed. */
  readonly pending: number;
  /** False while further parts are being queued. */
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
  const newestReplay = async () => {
    const newest = await webhooks.deliveries(webhookId, { limit: 50 });
    if (!newest.ok) return newest;
    return { ok: true, value: newest.value.find(({ kind }) => kind === "replay") } as const;
  };
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

  let queued = 0;
  let since: string | undefined;
  let part: ReplayRange = range;
  for (;;) {
    const result = await webhooks.replay(webhookId, part, { signal });
    if (!result.ok) return result;
    const { replayed, throughSequence, complete } = result.value;
    queued += replayed;
    if (queued === 0) return { ok: true, queued };
    if (since === undefined) {
      const first = await newestReplay();
      if (!first.ok) return first;
      since = first.value?.createdAt ?? "";
    }
    onProgress({ queued, pending: queued, failed: 0, complete });
    if (complete || throughSequence === null) break;
    part = { ...range, afterSequence: throughSequence };
  }
  while (!signal.aborted) {
    const pending = await count("pending", since);
    if (!pending.ok) return pending;
    const failed = await count("failed", since);
    if (!failed.ok) return failed;
    onProgress({ queued, pending: pending.value, failed: failed.value, complete: true });
    if (pending.value === 0) break;
    await pause(pollEvery, signal);
  }
  return { ok: true, queued };
};
