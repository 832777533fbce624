// Yields every event of an environment once and in order: the stream signals new events, and the server's event log contains them.
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
  /** Called before the first event, with the number of the last event before it. */
  onStart(environment: string, sequence: number): void;
  onEvent(event: LoggedEvent): Promise<void> | void;
}

const largestPage = 500;
const betweenAttempts = 500;

/** From now on, or since a time, until the signal. Throws if the server rejects the request, or does not respond at first. */
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
  /** The number of the last event that was read. */
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
        // The database was restored, so its event numbers are lower again.
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
  // If the stream ends for any reason, so does the loop below.
  following.catch(() => undefined).finally(() => stop.abort());

  const oneEvent = async (query: EventQuery): Promise<LoggedEvent | undefined> =>
    answered(connection, await events({ ...query, limit: 1 })).at(0);
  /** Determines the event number to start after. */
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
      // Before the first event, an unavailable server is an error, as for other commands.
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
