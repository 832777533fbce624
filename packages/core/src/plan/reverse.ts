// The change that undoes another change.
import { patchBetween } from "../difference.ts";
import type { Change } from "./plan.ts";

/** Undefined for a step that is not possible, because it was never applied. */
export const reverse = (change: Change): Change | undefined => {
  const { key } = change;
  if (change.of === "segment") {
    if (change.kind === "update") {
      return { of: "segment", kind: "update", key, before: change.after, after: change.before };
    }
    const { segment } = change;
    return { of: "segment", kind: change.kind === "create" ? "delete" : "create", key, segment };
  }
  switch (change.kind) {
    case "create":
      return { of: "flag", kind: "delete", key, flag: change.flag };
    case "delete":
      return { of: "flag", kind: "create", key, flag: change.flag };
    case "update": {
      const { before, after } = change;
      const patch = patchBetween(after, before);
      return { of: "flag", kind: "update", key, before: after, after: before, patch };
    }
    case "retype":
      return undefined;
  }
};
