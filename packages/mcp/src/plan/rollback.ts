// Plans that restore flags to a past state: patches from the current values to the past ones.
import { patchBetween } from "@halyard/core/difference";
import { planChanges } from "@halyard/core/plan/plan";
import type { Flag, FlagQuery, Management, PastQuery, Result } from "@halyard/sdk/management";
import type { ToolDependencies } from "../dependencies.ts";
import type { Operation } from "../operations.ts";
import { serverError, type ToolResult, toolError } from "../tool-result.ts";
import { makePlan } from "./plan.ts";

/** The maximum flags of one plan. */
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
  /** All flags that have changed since, if none are specified. */
  readonly keys: readonly string[] | undefined;
  readonly reason: string;
}

export const planRollback = async (
  dependencies: ToolDependencies,
  { keys, reason, ...past }: Wanted,
): Promise<ToolResult> => {
  const { management } = dependencies;
  if ((past.at === undefined) === (past.revision === undefined)) {
    return toolError("Specify either at or revision.", {
      error: { code: "NO_TIME" },
    });
  }
  const now = await allFlags(management, {});
  if (!now.ok) return serverError(now.error);
  const then = await allFlags(management, past);
  if (!then.ok) return serverError(then.error);
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
      const why = step.kind === "create" ? "it was deleted since" : "it has a different type now";
      leftOut.push({ key, why });
    }
  }
  const known = new Set(then.value.map(({ key }) => key));
  const later = keys?.filter((key) => !known.has(key)) ?? [];
  leftOut.push(...later.map((key) => ({ key, why: "it did not exist then" })));

  const notes = leftOut.length > 0 ? { leftOut } : {};
  if (operations.length === 0) {
    return toolError("There is nothing to roll back.", {
      error: { code: "NOTHING_TO_CHANGE" },
      ...notes,
    });
  }
  if (operations.length > maxFlags) {
    return toolError(
      `More than ${maxFlags} flags have changed since: specify those to roll back.`,
      {
        error: { code: "TOO_MANY_FLAGS" },
        flags: operations.map(({ key }) => key),
      },
    );
  }
  return makePlan(dependencies, operations, reason, notes);
};
