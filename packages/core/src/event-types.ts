// The types of the events that changes make.

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

export const eventTypes = [...flagEventTypes, ...segmentEventTypes] as const;
export type EventType = (typeof eventTypes)[number];
