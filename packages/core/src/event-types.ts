// The types of events that changes emit.

export const flagEventTypes = [
  "flag.created",
  "flag.enabled",
  "flag.disabled",
  "flag.updated",
  "flag.deleted",
] as const;
export type FlagEventType = (typeof flagEventTypes)[number];

export const segmentEventTypes = ["segment.created", "segment.updated", "segment.deleted"] as const;
export type SegmentEventType = (typeof segmentEventTypes)[number];

export const changeRequestEventTypes = [
  "change_request.created",
  "change_request.updated",
  "change_request.commented",
  "change_request.approved",
  "change_request.refused",
  "change_request.withdrawn",
  "change_request.applied",
] as const;
export type ChangeRequestEventType = (typeof changeRequestEventTypes)[number];

export const eventTypes = [
  ...flagEventTypes,
  ...segmentEventTypes,
  ...changeRequestEventTypes,
] as const;
export type EventType = (typeof eventTypes)[number];
