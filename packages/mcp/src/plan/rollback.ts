// Plans to bring flags back to what they were: patches from how they are now to how they were then.
import { patchBetween } from "@halyard/core/difference";
import { planChanges } from "@halyard/core/plan/plan";
import type { Flag, FlagQuery, Management, PastQuery, Result } from "@halyard/sdk/management";
import { type Answer, refusal, refusedByServer } from "../answer.ts";
import type { ToolDependencies } from "../dependencies.ts";
import type { Operation } from "../operations.ts";
import { makePlan } from "./plan.ts";

/** What one plan holds. */
const maxFlags = 100;

const allFlags = async (
  { flags }: Management,
  query: FlagQuery,
): Promise<Result<readonly Flag[]>> => {
  const found: Flag[] = [];
  for await (const page of flags.pages(query)) {
    if (!page.ok) return page;
    found.push(...page.value);
  }
  return { ok: true, value: found };
};

interface Wanted extends PastQuery {
  /** All that have changed since, when they are not named. */
  readonly keys: readonly string[] | undefined;
  readonly reason: string;
}

export const planRollback = async (
  dependencies: ToolDependencies,
  { keys, reason, ...past }: Wanted,
): Promise<Answer> => {
  const { management } = dependencies;
  if ((past.at === undefined) === (past.revision === undefined)) {
    return refusal("Say when, with at or with revision: one of the two.", {
      error: { code: "NO_TIME" },
    });
  }
  const now = await allFlags(management, {});
  if (!now.ok) return refusedByServer(now.error);
  const then = await allFlags(management, past);
  if (!then.ok) return refusedByServer(then.error);
  const isWanted = ({ key }: Pick<Flag, "key">) => keys === undefined || keys.includes(key);

  const operations: Operation[] = [];
  const leftOut: object[] = [];
  const target = then.value.filter(isWanted);
  for (const step of planChanges({ flags: now.value }, { flags: target }).changes) {
    const { key } = step;
    if (step.of === "flag" && step.kind === "update") {
      const body = patchBetween(step.before, step.after) as Record<string, unknown>;
      operations.push({ kind: "flag", action: "patch", key, body });
    } else {
      const why = step.kind === "create" ? "it was deleted since" : "it has another type now";
      leftOut.push({ key, why });
    }
  }
  const known = new Set(then.value.map(({ key }) => key));
  const later = keys?.filter((key) => !known.has(key)) ?? [];
  leftOut.push(...later.map((key) => ({ key, why: "it did not exist then" })));

  const notes = leftOut.length > 0 ? { leftOut } : {};
  if (operations.length === 0) {
    return refusal("There is nothing to roll back.", {
      error: { code: "NOTHING_TO_CHANGE" },
      ...notes,
    });
  }
  if (operations.length > maxFlags) {
    return refusal(`More than ${maxFlags} flags have changed since: name those to roll back.`, {
      error: { code: "TOO_MANY_FLAGS" },
      flags: operations.map(({ key }) => key),
    });
  }
  return makePlan(dependencies, operations, reason, notes);
};
