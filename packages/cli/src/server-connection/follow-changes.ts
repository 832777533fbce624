// The stream of an environment, for as long as wanted: comes back after every interruption and goes on where it was.
import { setTimeout as pause } from "node:timers/promises";
import type { Flag, ManagementError } from "@halyard/sdk";
import { readEventStream } from "@halyard/sdk/read-event-stream";
import { delayAfter, standardTiming } from "@halyard/sdk/timing";
import { failureOf } from "./connection.ts";
import type { Profile } from "./profiles.ts";

export interface Snapshot {
  readonly environment: string;
  readonly revision: number;
  /** When the last change was; null before the first. */
  readonly at: string | null;
  readonly flags: readonly { readonly version: number; readonly flag: Flag }[];
}

export interface StreamedChange {
  readonly revision: number;
  readonly at: string;
  readonly key: string;
  readonly version: number;
  /** Null when it was deleted. */
  readonly flag: Flag | null;
}

export interface ChangeReader {
  /** At first, and again when changes were missed that the server no longer has at hand. */
  onSnapshot(snapshot: Snapshot): void;
  onChange(change: StreamedChange): void;
  onLost(reason: string): void;
  onBack(): void;
}

/** Somebody sits before it: they are not to wait long after the server is back. */
const timing = { ...standardTiming, minimumDelay: 250, maximumDelay: 5_000 };

/** Ends with the signal; throws when the server refuses, or does not answer at the first attempt. */
export const followChanges = async (
  server: Profile,
  reader: ChangeReader,
  signal: AbortSignal,
): Promise<void> => {
  let lastEventId = "";
  let isLost = false;
  let failures = 0;
  const hear = () => {
    failures = 0;
    if (isLost) reader.onBack();
    isLost = false;
  };
  while (!signal.aborted) {
    const outcome = await readEventStream({
      fetch: globalThis.fetch,
      url: `${server.url.replace(/\/+$/, "")}/api/v1/stream`,
      headers: {
        authorization: `Bearer ${server.key}`,
        ...(lastEventId !== "" && { "last-event-id": lastEventId }),
      },
      timing,
      signal,
      onEvent({ name, data, id }) {
        if (name === "snapshot") reader.onSnapshot(JSON.parse(data) as Snapshot);
        else if (name === "change") reader.onChange(JSON.parse(data) as StreamedChange);
        else return;
        lastEventId = id;
        hear();
      },
      onComment: hear,
      onRetry: () => undefined,
    });
    if (signal.aborted) return;
    const isFirst = lastEventId === "";
    if (outcome.kind === "refused" || (isFirst && outcome.kind !== "over")) {
      throw failureOf(server, outcome.error as ManagementError);
    }
    failures += 1;
    if (!isLost) reader.onLost(outcome.error.message);
    isLost = true;
    const asked = outcome.kind === "unreachable" ? (outcome.retryAfter ?? 0) : 0;
    const delay = Math.max(Math.min(asked, timing.maximumDelay), delayAfter(failures, timing));
    await pause(delay, undefined, { signal }).catch(() => undefined);
  }
};
