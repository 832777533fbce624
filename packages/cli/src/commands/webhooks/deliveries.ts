// halyard webhooks test, trigger, deliveries, retry and replay: show deliveries, and send events again.
import { setTimeout as pause } from "node:timers/promises";
import { eventTypes } from "@halyard/core/event-types";
import type { Delivery, EventName, ReplayRange } from "@halyard/sdk/management";
import { Argument, type Command, Option } from "commander";
import {
  answered,
  type Connection,
  type ConnectionOptions,
  changeCommand,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { beginChange, placeOf } from "../../server-connection/place.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { moment, wholeNumber } from "../../terminal/option-values.ts";
import { CommandFailed, print, printAside, printJson, printTable } from "../../terminal/output.ts";
import { createProgress } from "../../terminal/progress.ts";
import { attemptText, responseText, stateOf, succeeded } from "../../terminal/webhook-text.ts";

interface Options extends ConnectionOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
}

interface DeliveriesOptions extends Options {
  readonly state?: Delivery["state"] | "retrying";
  readonly flag?: string;
  readonly limit: number;
}

interface ReplayOptions extends Options {
  readonly afterSequence?: number;
  readonly from?: Date;
  readonly to?: Date;
}

const largestPage = 1_000;
/** In milliseconds: 15 seconds for the receiver, the rest for the queue. */
const longestTest = 30_000;
const betweenLooks = 100;

const webhook = ["<webhook>", "its id, which webhooks list shows"] as const;
const readOf = (group: Command, name: string): Command =>
  serverCommand(group.command(name), "a server").argument(...webhook);
const onWebhook = (group: Command, name: string, command = serverCommand): Command =>
  command(group.command(name)).argument(...webhook);

export const addDeliveryCommands = (group: Command): void => {
  const test = onWebhook(group, "test")
    .description("send a test event and print the receiver's response (exit code 1 if it fails)")
    .action((id: string, options: Options) => testWebhook(id, options));
  withExamples(test, "halyard webhooks test wh_3f9a0c5be1d24f6a8b7c6d5e");

  const trigger = changeCommand(group.command("trigger"))
    .addArgument(new Argument("<type>", "the type of the event").choices(eventTypes))
    .argument(...webhook)
    .description('send an event of this type about a flag "example" (exit code 1 if it fails)')
    .addHelpText(
      "after",
      `
The event looks like a real one, but its sequence is null. Only this webhook receives it.`,
    )
    .action((type: EventName, id: string, options: Options) => testWebhook(id, options, type));
  withExamples(trigger, "halyard webhooks trigger flag.enabled wh_3f9a0c5be1d24f6a8b7c6d5e");

  const deliveries = readOf(group, "deliveries")
    .description("list the deliveries of a webhook, newest first, with their results")
    .addOption(
      new Option("--state <state>", "only deliveries in this state").choices([
        "pending",
        "retrying",
        "delivered",
        "failed",
      ]),
    )
    .option("--flag <flag>", "only events of this flag")
    .option("--limit <count>", "the maximum number of deliveries", wholeNumber(1), 20)
    .action(listDeliveries);
  withExamples(
    deliveries,
    "halyard webhooks deliveries wh_3f9a0c5be1d24f6a8b7c6d5e --state failed",
    "halyard webhooks deliveries wh_3f9a0c5be1d24f6a8b7c6d5e --flag new-checkout --json",
  );

  const retry = onWebhook(group, "retry", changeCommand)
    .description("retry waiting and failed deliveries now")
    .action(retryDeliveries);
  withExamples(retry, "halyard webhooks retry wh_3f9a0c5be1d24f6a8b7c6d5e");

  const replay = onWebhook(group, "replay", changeCommand)
    .description("replay events: one delivery, or all events of a range")
    .argument("[delivery]", "the id of the delivery, which webhooks deliveries shows")
    .option("--after-sequence <number>", "all events after this number", wholeNumber(0))
    .option("--from <time>", "all events since this time, or for an age such as 2h", moment)
    .option("--to <time>", "all events up to this time", moment)
    .action(replayEvents);
  withExamples(
    replay,
    "halyard webhooks replay wh_3f9a0c5be1d24f6a8b7c6d5e dlv_81f1b0a4c9d24b7c9a5e3f21",
    "halyard webhooks replay wh_3f9a0c5be1d24f6a8b7c6d5e --after-sequence 812",
    "halyard webhooks replay wh_3f9a0c5be1d24f6a8b7c6d5e --from 2h",
  );
};

const testType = "webhook.test";

const testWebhook = async (
  id: string,
  options: Options,
  type: EventName | typeof testType = testType,
): Promise<void> => {
  const connection = connect(options);
  const { webhooks } = connection.management;
  // A test event is marked as one, but a realistic event may trigger actions.
  const place =
    type === testType
      ? await placeOf(connection)
      : await beginChange(connection, `Send ${type} to ${id}`, options.yes);
  const { id: deliveryId } = answered(connection, await webhooks.test(id, { type }));
  const what = type === testType ? "the test" : type;
  const delivery = await attempted(connection, id, deliveryId);
  const attempt = delivery.attempts.at(-1);
  if (attempt === undefined) {
    throw new CommandFailed(
      `The test ${deliveryId} is still waiting to be sent${await whyWaiting(connection, id, delivery)}; check later with ${connection.hint(`webhooks deliveries ${id}`)}.`,
      exitCodes.unavailable,
    );
  }
  if (options.json) printJson({ ...delivery, ...place.json });
  if (succeeded(attempt)) {
    if (!options.json) {
      print(`The receiver of ${id} ${place.text} accepted ${what}: ${attemptText(attempt)}.`);
    }
    return;
  }
  const said = responseText(attempt);
  throw new CommandFailed(
    `The receiver of ${id} ${place.text} did not accept ${what}: ${attemptText(attempt)}${said === undefined ? "" : `, "${said}"`}. It will be retried; ${connection.hint(`webhooks deliveries ${id}`)} shows the result.`,
  );
};

/** When the delivery is due, and which one it waits for: if two tests are due at the same time, the earlier goes first. */
const whyWaiting = async (
  connection: Connection,
  id: string,
  { id: deliveryId, nextAttemptAt }: Delivery,
): Promise<string> => {
  if (nextAttemptAt === null) return "";
  const { webhooks } = connection.management;
  const pending = await webhooks.deliveries(id, { state: "pending", limit: largestPage });
  const earlier = (pending.ok ? pending.value : []).findLast(
    (other) =>
      other.kind === "test" && other.id !== deliveryId && other.nextAttemptAt === nextAttemptAt,
  );
  if (earlier === undefined) return `, due at ${nextAttemptAt}`;
  return `, behind an earlier test that is pending (${earlier.id}) and due at ${nextAttemptAt}`;
};

/** Due later than this command waits. Both times are the server's. */
const isDueTooLate = ({ createdAt, nextAttemptAt }: Delivery): boolean =>
  nextAttemptAt !== null && Date.parse(nextAttemptAt) - Date.parse(createdAt) > longestTest;

/** The delivery after its first attempt, or after the maximum wait. */
const attempted = async (
  connection: Connection,
  id: string,
  deliveryId: string,
): Promise<Delivery> => {
  const end = performance.now() + longestTest;
  for (;;) {
    const looked = await connection.management.webhooks.delivery(id, deliveryId);
    const { request: _, ...delivery } = answered(connection, looked);
    const isEnough = delivery.attempts.length > 0 || isDueTooLate(delivery);
    if (isEnough || performance.now() > end) return delivery;
    await pause(betweenLooks);
  }
};

const listDeliveries = async (id: string, options: DeliveriesOptions): Promise<void> => {
  const connection = connect(options);
  const { state, flag, limit } = options;
  const found: Delivery[] = [];
  const pages = connection.management.webhooks.deliveryPages(id, {
    limit: Math.min(limit, largestPage),
    ...(state !== undefined && { state }),
    ...(flag !== undefined && { flag }),
  });
  for await (const page of pages) {
    found.push(...answered(connection, page));
    if (found.length >= limit) break;
  }
  const deliveries = found.slice(0, limit);
  if (options.json) return printJson(deliveries);
  printTable(
    ["id", "state", "event", "flag", "sequence", "created", "attempts", "last response"],
    deliveries.map((delivery) => {
      const { event, attempts } = delivery;
      const last = attempts.at(-1);
      return [
        delivery.id,
        stateOf(delivery),
        event.type,
        event.flagKey ?? "",
        event.sequence === null ? "" : String(event.sequence),
        delivery.createdAt,
        String(attempts.length),
        last === undefined ? "" : attemptText(last),
      ];
    }),
  );
  if (deliveries.length === 0) printAside("No deliveries.");
};

const retryDeliveries = async (id: string, options: Options): Promise<void> => {
  const connection = connect(options);
  const what = `Retry the deliveries of ${id}`;
  const { text: where, json } = await beginChange(connection, what, options.yes);
  let retried = 0;
  for (;;) {
    const part = answered(connection, await connection.management.webhooks.retry(id));
    retried += part.retried;
    if (part.complete) break;
  }
  if (options.json) return printJson({ retried, ...json });
  print(
    `Waiting ${retried === 0 ? "" : `deliveries and ${retried} failed `}deliveries are due now ${where}. A failing receiver gets one request at a time; once it accepts one, the rest follow. ${connection.hint(`webhooks get ${id}`)} shows the result.`,
  );
};

/** Milliseconds between two checks of a replay's progress. */
const pollEvery = 500;

const replayEvents = async (
  id: string,
  deliveryId: string | undefined,
  options: ReplayOptions,
): Promise<void> => {
  const { afterSequence, from, to } = options;
  const hasRange = afterSequence !== undefined || from !== undefined || to !== undefined;
  if ((deliveryId !== undefined) === hasRange) {
    throw new CommandFailed(
      "Pass either one delivery or a range: --after-sequence, --from, --to.",
      exitCodes.usage,
    );
  }
  const connection = connect(options);
  const { webhooks } = connection.management;
  const what = `Replay ${deliveryId ?? `events for ${id}`}`;
  const { text: where, json } = await beginChange(connection, what, options.yes);
  const result = `${connection.hint(`webhooks deliveries ${id}`)} shows the result`;
  if (deliveryId !== undefined) {
    const delivery = answered(connection, await webhooks.replayDelivery(id, deliveryId));
    if (options.json) return printJson({ ...delivery, ...json });
    return print(`Queued again ${where} as ${delivery.id}; ${result}.`);
  }
  const progress = createProgress("queued");
  const range: ReplayRange = {
    ...(afterSequence !== undefined && { afterSequence }),
    ...(from !== undefined && { from: from.toISOString() }),
    ...(to !== undefined && { to: to.toISOString() }),
  };
  let replay = answered(connection, await webhooks.replay(id, range));
  try {
    while (replay.state === "running") {
      progress.at(replay.replayed);
      await pause(pollEvery);
      replay = answered(connection, await webhooks.replayProgress(id));
    }
  } finally {
    progress.end();
  }
  const { replayed, throughSequence, state } = replay;
  if (options.json) return printJson({ replayed, throughSequence, state, ...json });
  if (state === "stopped") printAside("The replay was stopped before it finished.");
  if (replayed === 0) return print(`No event in that range matches this webhook ${where}.`);
  print(
    `Queued ${replayed} event${replayed === 1 ? "" : "s"} ${where}, up to sequence ${throughSequence}; ${result}.`,
  );
};
