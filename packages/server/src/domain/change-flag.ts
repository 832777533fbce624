// Flag + request -> what becomes of the flag and which events tell of it. Nothing is written here.
import { type CreateFlag, type Flag, type PatchFlag, percentageRule } from "@halyard/core/flag";
import { toThousandths } from "@halyard/core/percentage";
import { conflict, fail, invalid, ok, type Result } from "../errors.ts";
import type { Decision, EnvironmentState, EventDraft, VersionedFlag } from "./change.ts";

export const maxFlags = 10_000;

const onBoolean =
  "applies to flags of type rollout only; a boolean flag is either on or off for everyone";

const checkPercentage = (flagType: Flag["type"], percentage: number | undefined): Result<void> => {
  if (percentage === undefined) return ok(undefined);
  if (flagType === "boolean") return invalid("percentage", onBoolean);
  if (toThousandths(percentage) === undefined) {
    return invalid("percentage", `must be ${percentageRule}`);
  }
  return ok(undefined);
};

export const decideCreate = (
  environment: EnvironmentState,
  existing: VersionedFlag | undefined,
  lastVersion: number,
  request: CreateFlag,
): Result<Decision> => {
  const percentage = checkPercentage(request.type, request.percentage);
  if (!percentage.ok) return percentage;
  if (existing) return conflict(`A flag with the key "${request.key}" already exists.`);
  if (environment.flagCount >= maxFlags) {
    return conflict(
      `The environment "${environment.name}" has ${maxFlags} flags, the most that it can hold; delete one first.`,
    );
  }
  const description = request.description ?? null;
  const after: Flag =
    request.type === "rollout"
      ? {
          key: request.key,
          type: "rollout",
          enabled: false,
          // `+ 0` turns the negative zero that JSON can carry into the plain one.
          percentage: (request.percentage ?? 0) + 0,
          description,
        }
      : { key: request.key, type: "boolean", enabled: false, description };
  return ok({
    key: request.key,
    before: null,
    after,
    // Versions of a key go on where a deleted flag of that key left off, so that an old ETag never matches a new flag.
    version: lastVersion + 1,
    drafts: [{ type: "flag.created", previous: {} }],
  });
};

/** The decision, or undefined when the patch changes nothing. */
export const decidePatch = (
  current: VersionedFlag,
  patch: PatchFlag,
): Result<Decision | undefined> => {
  const { flag, version } = current;
  const percentage = checkPercentage(flag.type, patch.percentage);
  if (!percentage.ok) return percentage;

  const updated: { percentage?: number; description?: string | null } = {};
  if (flag.type === "rollout" && (patch.percentage ?? flag.percentage) !== flag.percentage) {
    updated.percentage = flag.percentage;
  }
  if (patch.description !== undefined && patch.description !== flag.description) {
    updated.description = flag.description;
  }
  const drafts: EventDraft[] = [];
  if (patch.enabled !== undefined && patch.enabled !== flag.enabled) {
    drafts.push({
      type: patch.enabled ? "flag.enabled" : "flag.disabled",
      previous: { enabled: flag.enabled },
    });
  }
  if (Object.keys(updated).length > 0) {
    drafts.push({ type: "flag.updated", previous: updated });
  }
  const [first, ...rest] = drafts;
  if (!first) return ok(undefined);

  const enabled = patch.enabled ?? flag.enabled;
  const description = patch.description === undefined ? flag.description : patch.description;
  const after: Flag =
    flag.type === "rollout"
      ? { ...flag, enabled, percentage: (patch.percentage ?? flag.percentage) + 0, description }
      : { ...flag, enabled, description };
  return ok({
    key: flag.key,
    before: flag,
    after,
    version: version + 1,
    drafts: [first, ...rest],
  });
};

export const decideDelete = (current: VersionedFlag): Decision => ({
  key: current.flag.key,
  before: current.flag,
  after: null,
  version: current.version + 1,
  drafts: [{ type: "flag.deleted", previous: {} }],
});

/** `undefined` demands nothing, `"*"` that the flag exists, a list one of these versions. */
export type Precondition = undefined | "*" | readonly string[];

export const checkPrecondition = (
  current: VersionedFlag,
  precondition: Precondition,
): Result<void> => {
  if (precondition === undefined || precondition === "*") return ok(undefined);
  if (precondition.includes(String(current.version))) return ok(undefined);
  return fail({
    code: "PRECONDITION_FAILED",
    message: `The flag "${current.flag.key}" is at version ${current.version}, which If-Match does not name; look at it and try again.`,
    current: { body: current.flag, version: current.version },
  });
};
