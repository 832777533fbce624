// Follows the changes of an environment at a terminal: reports interruptions, and fails when the server refuses.
import { setTimeout as pause } from "node:timers/promises";
import {
  type EnvironmentChange,
  type EnvironmentSnapshot,
  followEnvironment,
} from "@halyard/sdk/follow-environment";
import type { ManagementError } from "@halyard/sdk/management";
import { type Connection, failureOf } from "./connection.ts";

export interface ChangeReader {
  /** At first, and again after missed changes that the server can no longer send one by one. */
  onSnapshot(snapshot: EnvironmentSnapshot): void;
  onChange(change: EnvironmentChange): void;
  onLost(reason: string): void;
  onBack(): void;
}

/** A person is watching: reconnect soon after the server is back. */
const timing = { minimumDelay: 250, maximumDelay: 5_000 };

/** Ends with the signal; throws when the server refuses, or does not respond at the first attempt. */
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
    // The command keeps running while it waits.
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
