// Follows the changes of an environment: reports interruptions, and fails if the server rejects the request.
import { setTimeout as pause } from "node:timers/promises";
import {
  type EnvironmentChange,
  type EnvironmentSnapshot,
  followEnvironment,
} from "@halyard/sdk/follow-environment";
import type { ManagementError } from "@halyard/sdk/management";
import { type Connection, failureOf } from "./connection.ts";

export interface ChangeReader {
  /** Called at the start, and after missed changes that the server can no longer send one by one. */
  onSnapshot(snapshot: EnvironmentSnapshot): void;
  onChange(change: EnvironmentChange): void;
  onLost(reason: string): void;
  onBack(): void;
}

/** In milliseconds. Short, because a user is watching. */
const timing = { minimumDelay: 250, maximumDelay: 5_000 };

/** Ends with the signal. Throws if the server rejects the request, or does not respond to the first attempt. */
export const followChanges = async (
  server: Connection,
  reader: ChangeReader,
  signal: AbortSignal,
): Promise<void> => {
  let hasSnapshot = false;
  let isLost = false;
  const ended = await followEnvironment({
    url: server.url,
    headers: { authorization: `Bearer ${server.key}` },
    timing,
    signal,
    // Keeps the process running while it waits.
    wait: (milliseconds) => pause(milliseconds, undefined, { signal }).catch(() => undefined),
    onSnapshot(snapshot) {
      hasSnapshot = true;
      reader.onSnapshot(snapshot);
    },
    onChange: (change) => reader.onChange(change),
    onLive() {
      if (isLost) reader.onBack();
      isLost = false;
    },
    onLost({ kind, error }) {
      if (kind === "refused" || (kind !== "over" && !hasSnapshot)) return "stop";
      if (!isLost) reader.onLost(error.message);
      isLost = true;
      return "retry";
    },
  });
  if (ended) throw failureOf(server, ended.error as ManagementError);
};
