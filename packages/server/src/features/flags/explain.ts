// Why a flag gives what it gives: now, as it would be with a patch, or as it was at a revision.
import type { EvaluationContext } from "@halyard/core/context";
import { evaluate, unknownFlag } from "@halyard/core/evaluate";
import { choiceOf, type Flag, type PatchFlag, prepare } from "@halyard/core/flags/registry";
import { isKnownLevel } from "@halyard/core/levels";
import type { Test } from "@halyard/core/targeting/conditions/condition";
import type { Environment } from "@halyard/core/targeting/decision";
import { type Explanation, explainDecision } from "@halyard/core/targeting/explain";
import { namedSegments } from "@halyard/core/targeting/references";
import { compileSegment, stateOf } from "@halyard/core/targeting/segment";
import type { EnvironmentRef } from "../../platform/auth/principal.ts";
import type { Store } from "../../platform/database/store.ts";
import {
  fail,
  failureIn,
  noEnvironment,
  notFound,
  ok,
  type Result,
} from "../../platform/errors.ts";
import type { VersionedFlag } from "../../writes/change.ts";
import { checkReferences } from "../../writes/references.ts";
import type { Past, Then, When } from "../history/past.ts";
import { decidePatch } from "./rules.ts";

/** One environment in memory. */
export interface ExplainMemory {
  readonly get: (environmentId: number) =>
    | {
        readonly revision: number;
        readonly environment: Environment;
        get(key: string): VersionedFlag | undefined;
      }
    | undefined;
  readonly current: () => Promise<void>;
}

/** At most one of them; what is there now without either. */
export interface ExplainAbout {
  readonly patch?: PatchFlag | undefined;
  readonly when?: When | undefined;
}

export interface Explained extends Explanation {
  readonly revision: number;
  readonly flag: Flag;
}

export type Explain = (
  environment: EnvironmentRef,
  key: string,
  context: EvaluationContext,
  about: ExplainAbout,
) => Promise<Result<Explained>>;

const unknown = evaluate(unknownFlag, {});

const explainFlag = (
  flag: Flag,
  level: number | undefined,
  environment: Environment,
  context: EvaluationContext,
): Explanation => {
  const { key, enabled } = flag;
  const targeting = isKnownLevel(level) ? flag : {};
  const decidable = { key, enabled, ...choiceOf(flag), targeting };
  try {
    const explained = explainDecision(decidable, environment, context);
    return isKnownLevel(level) ? explained : { ...explained, decision: unknown };
  } catch {
    // Something else has written the flag.
    const plain = explainDecision({ ...decidable, targeting: {} }, environment, context);
    return { ...plain, decision: unknown };
  }
};

/** What the flag names, directly and through others, as it was. */
const environmentAt = async (then: Then, entry: VersionedFlag): Promise<Environment> => {
  const flags = new Map([[entry.flag.key, entry]]);
  const required = ({ flag }: VersionedFlag) => (flag.requires ?? []).map((each) => each.flag);
  let wanted = required(entry);
  while (wanted.length > 0) {
    const next = new Set<string>();
    for (const key of wanted) {
      const found = await then.flag(key);
      if (found === undefined) continue;
      flags.set(key, found);
      for (const each of required(found)) next.add(each);
    }
    wanted = [...next].filter((key) => !flags.has(key));
  }
  const segments = new Map<string, Test>();
  const named = [...flags.values()].flatMap(({ flag }) => namedSegments(flag));
  for (const key of new Set(named.map((each) => each.key))) {
    const found = await then.wholeSegment(key);
    if (found) segments.set(key, compileSegment(stateOf(found.segment)));
  }
  const environment: Environment = {
    segment: (key) => segments.get(key),
    flag: (key) => prepared.get(key),
  };
  const prepared = new Map(
    [...flags].map(([key, { flag, level }]) => [key, prepare(flag, level, environment)]),
  );
  return environment;
};

export const createExplain = (
  store: Store,
  { get, current }: ExplainMemory,
  past: Past,
): Explain => {
  const explainPast = async (
    environment: EnvironmentRef,
    key: string,
    context: EvaluationContext,
    when: When,
  ): Promise<Result<Explained>> => {
    const found = await past(environment, when, async (then) => {
      const { revision } = then;
      const entry = await then.flag(key);
      if (!entry) return notFound(`At revision ${revision}, the flag`, key);
      const { flag, level } = entry;
      const explained = explainFlag(flag, level, await environmentAt(then, entry), context);
      return ok({ revision, flag, ...explained });
    });
    return found.ok ? found.value : found;
  };

  return async (environment, key, context, { when, patch }) => {
    if (when !== undefined) return explainPast(environment, key, context, when);
    await current();
    const memory = get(environment.id);
    if (!memory) return noEnvironment;
    const found = memory.get(key);
    if (!found) return notFound("The flag", key);
    const { revision } = memory;
    let { flag, level } = found;
    if (patch !== undefined) {
      const decision = decidePatch(found, patch);
      if (!decision.ok) return fail(failureIn("patch", decision.failure));
      if (decision.value?.after) {
        const possible = await checkReferences(store, environment.id, decision.value);
        if (!possible.ok) return fail(failureIn("patch", possible.failure));
        ({ after: flag, level } = { ...decision.value, after: decision.value.after });
      }
    }
    return ok({ revision, flag, ...explainFlag(flag, level, memory.environment, context) });
  };
};
