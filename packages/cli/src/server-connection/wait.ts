// --wait: after a change, waits until all clients have it, and lists those that do not.
import { setTimeout as pause } from "node:timers/promises";
import type { Management, ManagementError, Programs } from "@halyard/sdk/management";
import { type Command, InvalidArgumentError, Option } from "commander";
import { exitCodeOf, exitCodes } from "../terminal/exit-codes.ts";
import { CommandFailed, inOneLine, print } from "../terminal/output.ts";

const standardSeconds = 30;
const maxSeconds = 3_600;
/** Milliseconds between two checks, short at first. */
const shortestPause = 100;
const longestPause = 1_000;
/** Maximum number of clients in the message. */
const maxNamed = 20;

interface Place {
  readonly management: Pick<Management, "clients">;
  readonly hint: (command: string) => string;
}

interface WaitOptions {
  /** In seconds. */
  readonly wait?: number;
  readonly json?: boolean;
  readonly dryRun?: boolean;
  readonly preview?: boolean;
}

const secondsOf = (text: string): number => {
  const seconds = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds > 0 && seconds <= maxSeconds) return seconds;
  throw new InvalidArgumentError(
    `It must be a number of seconds up to ${maxSeconds}. Write --wait=SECONDS, or put --wait at the end.`,
  );
};

const waitOption = (): Option =>
  new Option(
    "--wait [seconds]",
    `wait until all clients have the change, ${standardSeconds} seconds by default; exit with ${exitCodes.lagging} if some do not`,
  )
    .argParser(secondsOf)
    .preset(String(standardSeconds));

/** Adds --wait to a command that changes flags or segments. */
export const waitable = (command: Command, placeOf: (action: Command) => Place): Command =>
  command.addOption(waitOption()).hook("postAction", async (_, action) => {
    const { wait, json = false, dryRun, preview } = action.opts<WaitOptions>();
    if (wait === undefined || dryRun || preview) return;
    const sentence = reachedText(await untilReached(placeOf(action), wait));
    if (!json) print(sentence);
  });

/** Such as `Reached 43 of 43 clients in 80 ms.` */
export const reachedText = ({ reached: { of, have, within }, told }: Programs): string => {
  const time = within === null ? "" : ` in ${within} ms`;
  const others = told === 0 ? "" : ` Notified ${told} more ${told === 1 ? "stream" : "streams"}.`;
  return `Reached ${have} of ${of} clients${time}.${others}`;
};

const isReached = ({ reached: { of, have } }: Programs): boolean => have === of;

/** The clients that lack the change, with their state and their distance. */
const laggingNames = ({ instances, clients }: Programs): readonly string[] => {
  const shown = (name: string, state: string, lag: number) =>
    `${inOneLine(name) || "an unnamed client"} (${state === "lost" ? "lost, " : ""}${lag} behind)`;
  return [
    ...instances
      .filter(({ lag, state }) => lag > 0 || state === "behind")
      .map(({ name, state, lag }) => `the instance ${shown(name, state, lag)}`),
    ...clients
      .filter(({ lag, state }) => lag > 0 || state === "behind")
      .map(({ name, state, lag }) => shown(name, state, lag)),
  ];
};

const lagging = (programs: Programs, seconds: number, { hint }: Place): CommandFailed => {
  const { of, have } = programs.reached;
  const names = laggingNames(programs);
  const more = of - have - Math.min(names.length, maxNamed);
  const named = [...names.slice(0, maxNamed), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
  return new CommandFailed(
    `The change was applied, but ${of - have} of ${of} clients don't have it after ${seconds} s: ${named}. ${hint("clients")} lists all.`,
    exitCodes.lagging,
    { details: names },
  );
};

const unconfirmed = ({ code, message }: ManagementError): CommandFailed =>
  new CommandFailed(
    `The change was applied, but Halyard couldn't confirm propagation:  ${message.replace(/[.]?$/, ".")}`,
    exitCodeOf(code),
    { code },
  );

/** Checks the newest revision, which is that of the change or a later one. */
const untilReached = async (place: Place, seconds: number): Promise<Programs> => {
  const end = performance.now() + seconds * 1_000;
  let revision: number | undefined;
  for (let wait = shortestPause; ; wait = Math.min(longestPause, wait * 1.5)) {
    const query = revision === undefined ? {} : { revision };
    const answer = await place.management.clients(query);
    const isLate = performance.now() >= end;
    if (answer.ok && isReached(answer.value)) return answer.value;
    if (answer.ok && isLate) throw lagging(answer.value, seconds, place);
    if (!answer.ok && (isLate || !mayPass(answer.error.code))) {
      throw unconfirmed(answer.error);
    }
    if (answer.ok) revision = answer.value.revision;
    await pause(Math.min(wait, Math.max(0, end - performance.now())));
  }
};

const mayPass = (code: string): boolean =>
  ["UNAVAILABLE", "UNREACHABLE", "RATE_LIMITED"].includes(code);
