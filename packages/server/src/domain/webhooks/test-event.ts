// An event that somebody asks for, to try out a receiver. It has no sequence number.
import type { FlagEventType, SegmentEventType } from "@halyard/core/event-types";
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

const segmentChanges: Readonly<Record<SegmentEventType, object>> = {
  "segment.created": { previous: {}, include: { added: ["user-1"], removed: [] } },
  "segment.updated": {
    previous: { counts: { include: 0, exclude: 0 } },
    include: { added: ["user-1"], removed: [] },
  },
  "segment.deleted": { previous: {} },
};

const exampleSegment = {
  key: "example",
  description: "No segment of yours: somebody tests this webhook.",
  when: null,
  counts: { include: 1, exclude: 0 },
};

const isOfSegment = (type: TestableType): type is SegmentEventType =>
  Object.hasOwn(segmentChanges, type);

const dataOf = (type: TestableType, { id, url, events }: Webhook): object => {
  if (type === testEventType) return { webhook: { id, url, events } };
  if (isOfSegment(type)) {
    return { segment: exampleSegment, version: 1, ...segmentChanges[type], flags: [] };
  }
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
