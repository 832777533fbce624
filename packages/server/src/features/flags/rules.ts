// Flag + request -> what becomes of the flag and which events report it. Nothing is written here.
import { difference } from "@halyard/core/difference";
import { applyPatch, type Changed, newFlag } from "@halyard/core/flags/change";
import {
  type CreateFlag,
  choiceOf,
  type Flag,
  levelOf,
  type PatchFlag,
} from "@halyard/core/flags/registry";
import { definitionOf } from "@halyard/core/flags/stored";
import { isObject } from "@halyard/core/targeting/mistakes";
import { placesServing } from "@halyard/core/targeting/references";
import { workOfRules } from "@halyard/core/targeting/work";
import { conflict, ok, type Result, refused } from "../../platform/errors.ts";
import type {
  EnvironmentState,
  EventDraft,
  FlagDecision,
  VersionedFlag,
} from "../../writes/change.ts";

export const maxFlags = 10_000;

const resultOf = (changed: Changed): Result<Flag> =>
  changed.ok ? ok(changed.flag) : refused(changed.errors);

/** What a flag adds to the definitions of its environment. */
const bytesOf = (flag: Flag | null): number =>
  flag === null ? 0 : Buffer.byteLength(definitionOf(flag) ?? "");

export const decideCreate = (
  environment: EnvironmentState,
  existing: VersionedFlag | undefined,
  lastVersion: number,
  request: CreateFlag,
): Result<FlagDecision> => {
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
    bytes: bytesOf(created.value),
    work: workOfRules(created.value.rules),
    drafts: [{ type: "flag.created", previous: {} }],
  });
};

const draftsOf = (before: Flag, after: Flag): FlagDecision["drafts"][number][] => {
  const drafts: EventDraft<FlagDecision["drafts"][number]["type"]>[] = [];
  if (before.enabled !== after.enabled) {
    const type = after.enabled ? "flag.enabled" : "flag.disabled";
    drafts.push({ type, previous: { enabled: before.enabled } });
  }
  const updated = difference(before, after).filter(({ member }) => member !== "enabled");
  if (updated.length > 0) {
    // Null for what was not set.
    const previous = updated.map(({ member, before: value }) => [member, value ?? null] as const);
    drafts.push({ type: "flag.updated", previous: Object.fromEntries(previous) });
  }
  return drafts;
};

/** A variant that the flag still serves cannot be taken out. */
const checkTakenOut = (before: Flag, patch: PatchFlag): Result<void> => {
  const isReplaced = isObject(patch.variants);
  if (before.type !== "variant" || !isReplaced) return ok(undefined);
  const { variants } = choiceOf(before);
  const after = { ...before, ...patch };
  for (const variant of Object.keys(variants)) {
    if (Object.hasOwn(Object(patch.variants), variant)) continue;
    const rest = { off: before.off, otherwise: before.otherwise };
    const unchanged = Object.fromEntries(
      Object.entries(rest).filter(([name]) => patch[name as keyof typeof rest] === undefined),
    );
    const rules = patch.rules === undefined ? after : {};
    const places = placesServing(rules as Flag, unchanged, variant);
    if (places.length > 0) {
      return conflict(
        `The variant "${variant}" cannot be taken out: it is served by ${places.join(", ")} of the flag "${before.key}".`,
      );
    }
  }
  return ok(undefined);
};

/** The decision, or undefined when the patch changes nothing. */
export const decidePatch = (
  current: VersionedFlag,
  patch: PatchFlag,
): Result<FlagDecision | undefined> => {
  const { flag, version, level } = current;
  const taken = checkTakenOut(flag, patch);
  if (!taken.ok) return taken;
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
    bytes: bytesOf(patched.value) - bytesOf(flag),
    work: workOfRules(patched.value.rules) - workOfRules(flag.rules),
    drafts: [first, ...rest],
  });
};

export const decideDelete = ({ flag, version, level }: VersionedFlag): FlagDecision => ({
  kind: "flag",
  key: flag.key,
  before: flag,
  after: null,
  version: version + 1,
  level,
  bytes: -bytesOf(flag),
  work: -workOfRules(flag.rules),
  drafts: [{ type: "flag.deleted", previous: {} }],
});
