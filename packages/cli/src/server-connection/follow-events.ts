// Every event of an environment once and in order: the stream says that there is something new, the server's log says what.
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { EventQuery } from "@halyard/sdk/management";
import type { WebhookEvent } from "@halyard/sdk/webhooks";
import { exitCodes } from "../terminal/exit-codes.ts";
import { CommandFailed, printAside } from "../terminal/output.ts";
import { answered, type Connection } from "./connection.ts";
import { followChanges } from "./follow-changes.ts";

export type LoggedEvent = Exclude<WebhookEvent, { readonly type: "webhook.test" }>;

interface EventReader {
  /** Before the first event; the number of the last event that will not come. */
  onStart(environment: string, sequence: number): void;
  onEvent(event: LoggedEvent): Promise<void> | void;
}

const largestPage = 500;
const betweenAttempts = 500;

/** From now on, or since a time, until the signal; throws when the server refuses, or does not respond at first. */
export const followEvents = async (
  connection: Connection,
  since: Date | undefined,
  reader: EventReader,
  stop: AbortController,
): Promise<void> => {
  const { signal } = stop;
  const { events } = connection.management;
  let environment = "";
  let revision = 0;
  /** The last number read. */
  let last = 0;
  let mustBegin = true;
  let from = since;
  let isNew = false;
  let arrived = Promise.withResolvers<void>();
  const wake = () => {
    isNew = true;
    arrived.resolve();
  };
  const following = followChanges(
    connection,
    {
      onSnapshot(snapshot) {
        environment = snapshot.environment;
        // The database was restored: its numbers begin again earlier.
        if (snapshot.revision < revision) mustBegin = true;
        revision = snapshot.revision;
        wake();
      },
      onChange(change) {
        revision = change.revision;
        wake();
      },
      onLost: (reason) => printAside(`Connection lost (${reason}); reconnecting.`),
      onBack: () => printAside("Reconnected."),
    },
    signal,
  );
  const ended = once(signal, "abort");
  // When the stream ends, for whatever reason, so does the loop below.
  following.catch(() => undefined).finally(() => stop.abort());

  const oneEvent = async (query: EventQuery): Promise<LoggedEvent | undefined> =>
    answered(connection, await events({ ...query, limit: 1 })).at(0);
  /** Finds out which number to begin after. */
  const begin = async (): Promise<void> => {
    const first = from && (await oneEvent({ since: from.toISOString() }));
    last = first ? first.sequence - 1 : ((await oneEvent({}))?.sequence ?? 0);
    from = undefined;
    mustBegin = false;
    reader.onStart(environment, last);
  };

  const readAll = async (): Promise<void> => {
    if (mustBegin) await begin();
    for (;;) {
      const page = await events({ after: last, limit: largestPage });
      for (const event of answered(connection, page)) {
        if (signal.aborted) return;
        const missing = event.sequence - last - 1;
        if (missing > 0)
          printAside(`${missing} events before #${event.sequence} are no longer kept.`);
        await reader.onEvent(event);
        last = event.sequence;
      }
      if (!page.ok || page.next === undefined) return;
    }
  };

  let isAwayReported = false;
  while (!signal.aborted) {
    if (!isNew) {
      arrived = Promise.withResolvers();
      await Promise.race([arrived.promise, ended]);
      continue;
    }
    isNew = false;
    try {
      await readAll();
      isAwayReported = false;
    } catch (error) {
      const isAway = error instanceof CommandFailed && error.exitCode === exitCodes.unavailable;
      // Before the first event it is like any other command that finds the server unavailable.
      if (!isAway || mustBegin) {
        stop.abort();
        throw error;
      }
      if (!isAwayReported) printAside(`${error.message} Trying again.`);
      isAwayReported = true;
      isNew = true;
      await pause(betweenAttempts, undefined, { signal }).catch(() => undefined);
    }
  }
  await following;
};
