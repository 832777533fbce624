// Random calls about webhooks, each with what the model says must come back.
import assert from "node:assert/strict";
import fc from "fast-check";
import { assertRefused } from "../support/answers.ts";
import type { Answer } from "../support/api.ts";
import {
  bodyOf,
  type Command,
  command,
  field,
  type Model,
  maybe,
  often,
  type Webhook,
} from "./model.ts";

const events = field(
  [
    ["*"],
    ["flag.created"],
    ["flag.enabled", "flag.disabled", "flag.enabled"],
    ["flag.updated", "flag.deleted"],
  ],
  [[], ["flag"], ["webhook.test"], "flag.enabled", null, [5]],
);
const hook = "http://127.0.0.1:9/hook";
const cloudEvents = maybe(field([true, false], ["true", 0, null]));
const createWebhook = bodyOf({
  url: field(
    [hook, "https://127.0.0.1:9/?a=b"],
    [undefined, "", "x", "http://10.0.0.1/", `${hook}#f`, 5],
  ),
  events: field(
    [["*"], ["flag.created", "flag.created"], ["flag.updated", "flag.enabled"]],
    [undefined, []],
  ),
  cloudEvents,
});
const patchWebhook = bodyOf({
  active: maybe(field([true, false], ["true", 0, null])),
  events: maybe(events),
  cloudEvents,
  url: field([undefined], [hook]),
});
/** Mostly one of the webhooks there are; 0 is one that is not there. */
const chosen = fc.nat({ max: 7 });
const idOf = (model: Model, choice: number): string => {
  const ids = [...model.webhooks.keys()];
  return ids[choice === 0 ? -1 : choice % ids.length] ?? "wh_000000000000000000000000";
};

const assertWebhook = (answer: Answer, expected: Webhook | undefined): void => {
  assert.equal(answer.status, 200, answer.text);
  const { createdAt, ...rest } = answer.body as Webhook & { createdAt: string };
  assert.deepEqual(rest, expected);
  assert.equal(new Date(createdAt).toISOString(), createdAt);
};

export const webhookCommands: fc.Arbitrary<Command>[] = [
  ...often(
    command("create webhook", createWebhook, async (model, admin, { body, valid }) => {
      const answer = await admin("POST", "/webhooks", body);
      if (!valid) return assertRefused(answer, 400);
      assert.equal(answer.status, 201, answer.text);
      const { id, secret, ...rest } = answer.body as Webhook & { secret: string };
      const folded = [...new Set(body.events as string[])];
      assert.deepEqual(rest, {
        url: body.url,
        events: folded,
        active: true,
        ...(body.cloudEvents === true && { cloudEvents: true }),
      });
      assert.match(`${id} ${secret}`, /^wh_\w+ whsec_[\w+/]{43}=$/);
      model.webhooks.set(id, { id, ...rest });
      model.queued.set(id, []);
      return undefined;
    }),
  ),
  ...often(
    command(
      "patch webhook",
      fc.tuple(chosen, patchWebhook),
      async (model, admin, [index, { body, valid }]) => {
        const id = idOf(model, index);
        const answer = await admin("PATCH", `/webhooks/${id}`, body);
        if (!valid) return assertRefused(answer, 400);
        const webhook = model.webhooks.get(id);
        if (!webhook) return assertRefused(answer, 404, id);
        const { cloudEvents: isOn, ...after } = { ...webhook, ...body };
        model.webhooks.set(id, {
          ...after,
          events: [...new Set(after.events)],
          ...(isOn === true && { cloudEvents: true }),
        });
        return assertWebhook(answer, model.webhooks.get(id));
      },
    ),
  ),
  command("delete webhook", chosen, async (model, admin, index) => {
    const id = idOf(model, index);
    const answer = await admin("DELETE", `/webhooks/${id}`);
    if (!model.webhooks.delete(id)) return assertRefused(answer, 404, id);
    model.queued.delete(id);
    return assert.deepEqual([answer.status, answer.text], [204, ""]);
  }),
  command("get webhook", chosen, async (model, admin, index) => {
    const id = idOf(model, index);
    const answer = await admin("GET", `/webhooks/${id}`);
    if (!model.webhooks.has(id)) return assertRefused(answer, 404, id);
    return assertWebhook(answer, model.webhooks.get(id));
  }),
  command("list webhooks", fc.constant(null), async (model, admin) => {
    const list = (await admin("GET", "/webhooks")).body as (Webhook & { createdAt: string })[];
    const shown = list.map(({ createdAt, ...webhook }) => {
      assert.ok(createdAt);
      return webhook;
    });
    assert.equal(list.length, model.webhooks.size);
    assert.deepEqual(new Map(shown.map((webhook) => [webhook.id, webhook])), model.webhooks);
  }),
];
