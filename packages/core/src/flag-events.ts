// The types of the events that changes of flags make.

export const flagEventTypes = [
  "flag.created",
  "flag.enabled",
  "flag.disabled",
  "flag.updated",
  "flag.deleted",
] as const;
export type FlagEventType = (typeof flagEventTypes)[number];
