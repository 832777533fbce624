// An event that somebody asks for, to try out a receiver. It has no sequence number.
import type { FlagEventType } from "@halyard/core/event-types";
import type { Flag } from "@halyard/core/flags/registry";
import type { Caller } from "../principal.ts";
import { type TestableType, type TestEvent, testEventType, type Webhook } from "./webhook.ts";

const example = (enabled: boolean): Flag => ({
  key: "example",
  type: "boolean",
  enabled,
  description: "No flag of yours: somebody tests this webhook.",
});

/** As a change of the example would be described. */
const changes: Readonly<
  Record<FlagEventType, { readonly enabled: boolean; readonly previous: object }>
> = {
  "flag.created": { enabled: false, previous: {} },
  "flag.enabled": { enabled: true, previous: { enabled: false } },
  "flag.disabled": { enabled: false, previous: { enabled: true } },
  "flag.updated": { enabled: true, previous: { description: null } },
  "flag.deleted": { enabled: false, previous: {} },
};

const dataOf = (type: TestableType, { id, url, events }: Webhook): object => {
  if (type === testEventType) return { webhook: { id, url, events } };
  const { enabled, previous } = changes[type];
  return { flag: example(enabled), version: 1, previous };
};

export const testEvent = (
  id: string,
  type: TestableType,
  webhook: Webhook,
  { actor, environment }: Caller,
  at: Date,
): TestEvent => {
  const body = {
    id,
    type,
    createdAt: at.toISOString(),
    environment: environment.name,
    sequence: null,
    data: dataOf(type, webhook),
    actor,
  };
  return { id, type, body: new TextEncoder().encode(JSON.stringify(body)) };
};
