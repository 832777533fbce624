// halyard webhooks list, get, create, update, pause, resume, rotate and delete.
import type { Webhook, WebhookHealth } from "@halyard/sdk/management";
import type { Command } from "commander";
import {
  answered,
  type ConnectionOptions,
  changeCommand,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { beginChange, placeOf } from "../../server-connection/place.ts";
import { confirm } from "../../terminal/ask.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import {
  type Cell,
  CommandFailed,
  colored,
  inOneLine,
  print,
  printAside,
  printJson,
  printTable,
  shownCell,
} from "../../terminal/output.ts";
import { eventNames } from "../../terminal/webhook-text.ts";

interface Options extends ConnectionOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
}

const webhook = ["<webhook>", "its id, which webhooks list shows"] as const;

const onWebhook = (group: Command, name: string): Command =>
  changeCommand(group.command(name)).argument(...webhook);

export const addManageCommands = (group: Command): void => {
  const list = serverCommand(group.command("list"), "a server")
    .description("list the webhooks, oldest first")
    .action(listWebhooks);
  withExamples(list, "halyard webhooks list", "halyard webhooks list --json");

  const get = serverCommand(group.command("get"), "a server")
    .argument(...webhook)
    .description("show a webhook and the health of its deliveries")
    .action(getWebhook);
  withExamples(get, "halyard webhooks get wh_3f9a0c5be1d24f6a8b7c6d5e");

  const create = changeCommand(group.command("create"))
    .description("register a webhook and print its secret once")
    // Not --url, which is the server's address.
    .argument("<address>", "the https URL of the receiver")
    .option("--events <names>", "the events to send, separated by commas", "*")
    .option("--cloud-events", "include CloudEvents headers")
    .action(createWebhook);
  withExamples(
    create,
    "halyard webhooks create https://example.com/hook",
    "halyard webhooks create https://example.com/hook --events flag.enabled,flag.disabled",
    "halyard webhooks create https://example.com/hook --cloud-events",
  );

  const update = onWebhook(group, "update")
    .description("change a webhook's events, or its CloudEvents headers")
    .option("--events <names>", "the events to send, separated by commas")
    .option("--cloud-events", "include CloudEvents headers")
    .option("--no-cloud-events", "no longer include CloudEvents headers")
    .action(updateWebhook);
  withExamples(
    update,
    "halyard webhooks update wh_3f9a0c5be1d24f6a8b7c6d5e --events flag.enabled,flag.disabled",
    "halyard webhooks update wh_3f9a0c5be1d24f6a8b7c6d5e --cloud-events",
  );

  const pause = onWebhook(group, "pause")
    .description("pause a webhook until it is resumed")
    .action((id: string, options: Options) => setActive(id, false, options));
  withExamples(pause, "halyard webhooks pause wh_3f9a0c5be1d24f6a8b7c6d5e");
  const resume = onWebhook(group, "resume")
    .description("resume a webhook, starting with its pending deliveries")
    .action((id: string, options: Options) => setActive(id, true, options));
  withExamples(resume, "halyard webhooks resume wh_3f9a0c5be1d24f6a8b7c6d5e");

  const rotate = onWebhook(group, "rotate")
    .description("rotate a webhook's secret and print the new one once")
    .option("--immediately", "stop using the old secret now, not after 24 hours")
    .action(rotateSecret);
  withExamples(
    rotate,
    "halyard webhooks rotate wh_3f9a0c5be1d24f6a8b7c6d5e",
    "halyard webhooks rotate wh_3f9a0c5be1d24f6a8b7c6d5e --immediately",
  );

  const remove = onWebhook(group, "delete")
    .description("delete a webhook with its deliveries")
    .action(deleteWebhook);
  withExamples(remove, "halyard webhooks delete wh_3f9a0c5be1d24f6a8b7c6d5e --yes");
};

const stateOf = ({ active }: Webhook, health: WebhookHealth | undefined): Cell => {
  if (active) return { style: "green", text: "active" };
  return health?.status === "deactivated"
    ? { style: "red", text: "deactivated" }
    : { style: "yellow", text: "paused" };
};

const listWebhooks = async (options: Options): Promise<void> => {
  const connection = connect(options);
  const webhooks = answered(connection, await connection.management.webhooks.list());
  if (options.json) return printJson(webhooks);
  const health = answered(connection, await connection.management.webhooks.health());
  const byId = new Map(health.map((each) => [each.webhookId, each]));
  printTable(
    ["id", "state", "events", "address"],
    webhooks.map((webhook) => [
      webhook.id,
      stateOf(webhook, byId.get(webhook.id)),
      webhook.events.join(","),
      webhook.url,
    ]),
  );
  if (webhooks.length === 0)
    printAside(`No webhooks: create one with ${connection.hint("webhooks create ADDRESS")}.`);
};

const getWebhook = async (id: string, options: Options): Promise<void> => {
  const connection = connect(options);
  const { webhooks } = connection.management;
  const webhook = answered(connection, await webhooks.get(id));
  const health = answered(connection, await webhooks.healthOf(id));
  if (options.json) return printJson({ ...webhook, health });
  print(colored("bold", webhook.id));
  print(`  address  ${inOneLine(webhook.url)}`);
  print(`  events   ${webhook.events.join(", ")}`);
  if (webhook.cloudEvents) print("  headers  CloudEvents");
  print(`  state    ${shownCell(stateOf(webhook, health))}`);
  print(`  created  ${webhook.createdAt}`);
  const why = health.deactivatedFor === null ? "" : `: ${inOneLine(health.deactivatedFor)}`;
  print(`  health   ${shownCell(healthCell(health))}${why}`);
  print(
    `  pending  ${health.pending}, ${health.retrying} of them retrying, ${health.heldBack} held back by an earlier one`,
  );
  print(`  failed   ${health.failed}`);
  print(
    `  attempts ${totalsText(health.lastHour)} in the last hour, ${totalsText(health.lastDay)} in 24 hours`,
  );
  if (health.nextAttemptAt !== null) print(`  next     ${nextText(health, health.nextAttemptAt)}`);
  if (health.lastError !== null) {
    print(`  error    ${inOneLine(health.lastError)}, ${health.lastFailureAt}`);
  }
  for (const { deliveryId, flagKey, attempts, heldBack } of health.blocking) {
    print(
      `  retrying ${deliveryId} of ${flagKey ?? "a test"}, ${attempts} attempts; ${heldBack} wait for it`,
    );
  }
};

const healthCell = ({ status }: WebhookHealth): Cell => ({
  style:
    status === "failing" || status === "deactivated"
      ? "red"
      : status === "healthy"
        ? "green"
        : "yellow",
  text: status,
});

/** A failing webhook gets one request at a time, even if more are due. */
const nextText = ({ status }: WebhookHealth, at: string): string =>
  status === "failing" && Date.parse(at) <= Date.now()
    ? "one request at a time until one succeeds, about 15 seconds apart"
    : at;

const totalsText = ({ succeeded, failed }: WebhookHealth["lastHour"]): string =>
  `${succeeded} succeeded and ${failed} failed`;

const createWebhook = async (
  address: string,
  options: Options & { readonly events: string; readonly cloudEvents?: true },
): Promise<void> => {
  const connection = connect(options);
  const events = eventNames(options.events);
  const { webhooks } = connection.management;
  const place = await beginChange(connection, `Register a webhook for ${address}`, options.yes);
  const made = answered(
    connection,
    await webhooks.create({ url: address, events, ...headersOf(options) }),
  );
  if (options.json) return printJson({ ...made, ...place.json });
  print(`id      ${made.id}`);
  print(`secret  ${made.secret}`);
  printAside(
    `\nRegistered ${place.text}. Save the secret now: it won't be shown again, and the receiver needs it to verify requests.\nThen test the webhook: ${connection.hint(`webhooks test ${made.id}`)}`,
  );
};

/** Undefined if the option is not passed. */
const headersOf = ({ cloudEvents }: { readonly cloudEvents?: boolean }) =>
  cloudEvents === undefined ? {} : { cloudEvents };

const updateWebhook = async (
  id: string,
  options: Options & { readonly events?: string; readonly cloudEvents?: boolean },
): Promise<void> => {
  const events = options.events === undefined ? {} : { events: eventNames(options.events) };
  const patch = { ...events, ...headersOf(options) };
  if (Object.keys(patch).length === 0) {
    throw new CommandFailed(
      "Nothing to change: pass --events, --cloud-events or --no-cloud-events.",
      exitCodes.usage,
    );
  }
  const connection = connect(options);
  const { text: where, json } = await beginChange(connection, `Change ${id}`, options.yes);
  const changed = answered(connection, await connection.management.webhooks.update(id, patch));
  if (options.json) return printJson({ ...changed, ...json });
  const headers = changed.cloudEvents ? ", with CloudEvents headers" : "";
  print(
    `${id} is changed ${where}: ${inOneLine(changed.url)} gets ${changed.events.join(", ")}${headers}.`,
  );
};

const setActive = async (id: string, active: boolean, options: Options): Promise<void> => {
  const connection = connect(options);
  const what = `${active ? "Resume" : "Pause"} ${id}`;
  const { text: where, json } = await beginChange(connection, what, options.yes);
  const before = new Date().toISOString();
  const changed = answered(connection, await connection.management.webhooks.update(id, { active }));
  if (options.json) return printJson({ ...changed, ...json });
  const receiver = inOneLine(changed.url);
  if (active) return print(`${id} is active ${where}: events are sent to ${receiver}.`);
  print(`${id} is paused ${where}: no events are sent to ${receiver}.`);
  const { hint } = connection;
  printAside(
    `Events are not queued while it is paused. After ${hint(`webhooks resume ${id}`)}, replay them:\n  ${hint(`webhooks replay ${id} --from ${before}`)}`,
  );
};

const rotateSecret = async (
  id: string,
  options: Options & { readonly immediately?: boolean },
): Promise<void> => {
  const connection = connect(options);
  const immediately = options.immediately === true;
  const { webhooks } = connection.management;
  const place = await beginChange(connection, `Rotate the secret of ${id}`, options.yes);
  const rotated = answered(connection, await webhooks.rotateSecret(id, { immediately }));
  if (options.json) return printJson({ id, ...rotated, ...place.json });
  print(rotated.secret);
  const until = rotated.previousSecretValidUntil;
  printAside(
    until === null
      ? `This is the new secret of ${id} ${place.text}. It won't be shown again. The old one is no longer used.`
      : `This is the new secret of ${id} ${place.text}. It won't be shown again. Configure the receiver before ${until}: until then, requests are also signed with the old one.`,
  );
};

const deleteWebhook = async (id: string, options: Options): Promise<void> => {
  const connection = connect(options);
  const { webhooks } = connection.management;
  const [found, place] = await Promise.all([webhooks.get(id), placeOf(connection)]);
  const { url } = answered(connection, found);
  await confirm(`Delete ${id} (${url}) ${place.text} with its deliveries?`, options.yes);
  answered(connection, await webhooks.delete(id));
  if (options.json) return printJson({ id, deleted: true, ...place.json });
  print(`Deleted ${id} ${place.text}: no more events are sent to ${inOneLine(url)}.`);
};
