// Flag + request -> what becomes of the flag and which events report it. Nothing is written here.
import { difference } from "@halyard/core/difference";
import { applyPatch, type Changed, newFlag } from "@halyard/core/flags/change";
import { type CreateFlag, type Flag, levelOf, type PatchFlag } from "@halyard/core/flags/registry";
import { conflict, fail, invalid, ok, type Result } from "../errors.ts";
import type { Decision, EnvironmentState, EventDraft, VersionedFlag } from "./change.ts";

export const maxFlags = 10_000;

const resultOf = (changed: Changed): Result<Flag> =>
  changed.ok ? ok(changed.flag) : invalid(changed.wrong.field, changed.wrong.message);

export const decideCreate = (
  environment: EnvironmentState,
  existing: VersionedFlag | undefined,
  lastVersion: number,
  request: CreateFlag,
): Result<Decision> => {
  const created = resultOf(newFlag(request));
  if (!created.ok) return created;
  if (existing) return conflict(`A flag with the key "${request.key}" already exists.`);
  if (environment.flagCount >= maxFlags) {
    return conflict(
      `The environment "${environment.name}" has ${maxFlags} flags, the maximum; delete one first.`,
    );
  }
  return ok({
    kind: "flag",
    key: request.key,
    before: null,
    after: created.value,
    // Versions of a key continue after a deleted flag of that key, so that an old ETag never matches a new flag.
    version: lastVersion + 1,
    level: levelOf(created.value),
    drafts: [{ type: "flag.created", previous: {} }],
  });
};

const draftsOf = (before: Flag, after: Flag): EventDraft[] => {
  const drafts: EventDraft[] = [];
  if (before.enabled !== after.enabled) {
    const type = after.enabled ? "flag.enabled" : "flag.disabled";
    drafts.push({ type, previous: { enabled: before.enabled } });
  }
  const updated = difference(before, after).filter(({ member }) => member !== "enabled");
  if (updated.length > 0) {
    const previous = updated.map(({ member, before: value }) => [member, value] as const);
    drafts.push({ type: "flag.updated", previous: Object.fromEntries(previous) });
  }
  return drafts;
};

/** The decision, or undefined when the patch changes nothing. */
export const decidePatch = (
  current: VersionedFlag,
  patch: PatchFlag,
): Result<Decision | undefined> => {
  const { flag, version, level } = current;
  const patched = resultOf(applyPatch(flag, patch));
  if (!patched.ok) return patched;
  const [first, ...rest] = draftsOf(flag, patched.value);
  if (!first) return ok(undefined);
  return ok({
    kind: "flag",
    key: flag.key,
    before: flag,
    after: patched.value,
    version: version + 1,
    level: levelOf(patched.value, level),
    drafts: [first, ...rest],
  });
};

export const decideDelete = ({ flag, version, level }: VersionedFlag): Decision => ({
  kind: "flag",
  key: flag.key,
  before: flag,
  after: null,
  version: version + 1,
  level,
  drafts: [{ type: "flag.deleted", previous: {} }],
});

/** `undefined` requires nothing, `"*"` that the flag exists, a list that its version is one of these. */
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
