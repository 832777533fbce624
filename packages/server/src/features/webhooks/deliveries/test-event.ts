// An event that somebody asks for, to try out a receiver. It has no sequence number.
import type {
  ChangeRequestEventType,
  FlagEventType,
  SegmentEventType,
} from "@halyard/core/event-types";
import type { Flag } from "@halyard/core/flags/registry";
import type { Caller } from "../../../platform/auth/principal.ts";
import { testEventType } from "../../../platform/events.ts";
import type { TestableType, TestEvent, Webhook } from "../../../writes/webhook.ts";

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

const exampleRequest = (type: ChangeRequestEventType) => ({
  id: "cr_0000000000000000",
  state: states[type],
  title: "No request of yours: somebody tests this webhook.",
  author: { keyId: null, name: "somebody" },
  createdAt: "2026-01-01T00:00:00.000Z",
  applyAt: null,
  appliedRevision: type === "change_request.applied" ? 1 : null,
  operations: [{ kind: "flag", key: "example", action: "patch", version: 1 }],
});

const states: Readonly<Record<ChangeRequestEventType, string>> = {
  "change_request.created": "open",
  "change_request.updated": "open",
  "change_request.commented": "open",
  "change_request.approved": "approved",
  "change_request.refused": "refused",
  "change_request.withdrawn": "withdrawn",
  "change_request.applied": "applied",
};

const isOfRequest = (type: TestableType): type is ChangeRequestEventType =>
  Object.hasOwn(states, type);

const isOfSegment = (type: TestableType): type is SegmentEventType =>
  Object.hasOwn(segmentChanges, type);

const dataOf = (type: TestableType, { id, url, events }: Webhook): object => {
  if (type === testEventType) return { webhook: { id, url, events } };
  if (isOfRequest(type)) {
    return {
      changeRequest: exampleRequest(type),
      ...(type === "change_request.commented" && { comment: "No comment of anybody." }),
    };
  }
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
    chain: null,
    data: dataOf(type, webhook),
    actor,
  };
  return { id, type, body: new TextEncoder().encode(JSON.stringify(body)) };
};
