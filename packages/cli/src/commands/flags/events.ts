// halyard events tail: the changes of an environment as they happen, one line each.
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { EnvironmentChange, EnvironmentSnapshot } from "@halyard/sdk/follow-environment";
import { Command } from "commander";
import { createChangeLog, type LoggedChange } from "../../server-connection/change-log.ts";
import {
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { followChanges } from "../../server-connection/follow-changes.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { changesInOneLine } from "../../terminal/flag-text.ts";
import { moment, wholeNumber } from "../../terminal/option-values.ts";
import {
  CommandFailed,
  coloured,
  inOneLine,
  jsonText,
  print,
  printAside,
} from "../../terminal/output.ts";
import { outputClosed } from "../../terminal/output-closed.ts";

interface TailOptions extends ConnectionOptions {
  readonly since?: Date;
  readonly count?: number;
  readonly json?: boolean;
}

export const eventCommands = (): Command => {
  const group = new Command("events").description("follow the changes of an environment");
  const tail = serverCommand(group.command("tail"), "a server")
    .description("print every flag change as it happens; stop with Ctrl-C")
    .option("--since <time>", "start with the changes since this time, or this long ago", moment)
    .option("--count <number>", "exit after this many changes", wholeNumber(1))
    .addHelpText(
      "after",
      `
After an interruption it continues where it stopped, and repeats nothing.
With --json each change is one line: key, version, createdAt, events, actor, before, after.`,
    )
    .action(tailEvents);
  withExamples(
    tail,
    "halyard events tail",
    "halyard events tail --since 2h",
    "halyard events tail --json --count 1",
  );
  return group;
};

const largestBatch = 400;
const betweenAttempts = 500;

const tailEvents = async (options: TailOptions): Promise<void> => {
  const connection = connect(options);
  const log = createChangeLog(connection);
  const stop = new AbortController();
  const { signal } = stop;
  // Further signals change nothing: it is stopping already.
  process.on("SIGINT", () => stop.abort()).on("SIGTERM", () => stop.abort());
  outputClosed.addEventListener("abort", () => stop.abort());

  const waiting: (EnvironmentSnapshot | EnvironmentChange)[] = [];
  let arrived = Promise.withResolvers<void>();
  const put = (item: EnvironmentSnapshot | EnvironmentChange) => {
    waiting.push(item);
    arrived.resolve();
  };
  const following = followChanges(
    connection,
    {
      onSnapshot: put,
      onChange: put,
      onLost: (reason) => printAside(`Connection lost (${reason}); reconnecting.`),
      onBack: () => printAside("Reconnected."),
    },
    signal,
  );
  const ended = once(signal, "abort");
  // When the stream ends, for whatever reason, so does the loop below.
  following.catch(() => undefined).finally(() => stop.abort());

  let left = options.count ?? Number.POSITIVE_INFINITY;
  const show = (changes: readonly LoggedChange[]) => {
    for (const change of changes.slice(0, left)) {
      print(options.json ? jsonText(change) : lineOf(change));
    }
    left -= changes.length;
    if (left <= 0) stop.abort();
  };
  let met = false;
  /** Handles the first items in the queue, and returns how many. */
  const take = async (): Promise<number> => {
    const [first] = waiting;
    if (first !== undefined && "entries" in first) {
      const { changes, omitted } = await log.takeSnapshot(first);
      show(changes);
      if (omitted > 0) {
        printAside(`${omitted} more changes happened meanwhile; the history no longer has them.`);
      }
      if (met) return 1;
      if (options.since) show(await log.since(options.since));
      printAside(`Following ${first.environment} from revision ${first.revision} on.`);
      met = true;
      return 1;
    }
    const next = waiting.findIndex((item) => "entries" in item);
    const batch = waiting.slice(0, Math.min(largestBatch, next === -1 ? waiting.length : next));
    show(await log.takeChanges(batch as EnvironmentChange[]));
    return batch.length;
  };

  while (!signal.aborted) {
    if (waiting.length === 0) {
      arrived = Promise.withResolvers();
      await Promise.race([arrived.promise, ended]);
      continue;
    }
    try {
      waiting.splice(0, await take());
    } catch (error) {
      const isAway = error instanceof CommandFailed && error.exitCode === exitCodes.unavailable;
      if (!isAway) {
        stop.abort();
        throw error;
      }
      await pause(betweenAttempts);
    }
  }
  await following;
};

const lineOf = ({
  createdAt,
  key,
  version,
  events,
  actor,
  before,
  after,
}: LoggedChange): string => {
  const what = events.map((event) => event.replace("flag.", "")).join(", ");
  const changes = changesInOneLine(before, after);
  return [
    createdAt,
    what.padEnd(8),
    `${coloured("bold", key)} v${version}`,
    ...(changes === "" ? [] : [changes]),
    ...(actor === null ? [] : [`by ${inOneLine(actor.name)}`]),
  ].join("  ");
};
