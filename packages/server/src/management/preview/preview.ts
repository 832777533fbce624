// Whom decisions would hit: of the contexts that were asked about lately, those that would get another value.
import type { EvaluationContext } from "@halyard/core/context";
import { type Preview, previewChanges } from "@halyard/core/preview/preview";
import { maxDepth } from "@halyard/core/targeting/decision";
import type { Decision } from "../../domain/change.ts";
import { type EnvironmentRef, may, type Role } from "../../domain/principal.ts";
import { noEnvironment, ok, type Result } from "../../errors.ts";
import type { Store } from "../../ports.ts";
import { type PreviewMemory, sidesOf } from "./sides.ts";
import { createRunInSlices } from "./slices.ts";

export interface PreviewSample {
  readonly contexts: readonly {
    readonly context: EvaluationContext;
    readonly fromClient: boolean;
  }[];
  readonly since: Date;
  readonly until: Date;
}

export interface PreviewDependencies {
  readonly store: Pick<Store, "requiring">;
  readonly memory: {
    readonly get: (environmentId: number) => PreviewMemory | undefined;
    readonly current: () => Promise<void>;
  };
  /** Undefined when sampling is off. */
  readonly sample: (environmentId: number) => Promise<PreviewSample | undefined>;
  /** Milliseconds. */
  readonly now: () => number;
}

export interface ChangePreview extends Omit<Preview, "examples"> {
  /** The revision that the change was tried on. */
  readonly revision: number;
  /** Null when sampling is off. */
  readonly sample: {
    readonly contexts: number;
    readonly since: Date;
    readonly until: Date;
    readonly fromClientKeys: number;
  } | null;
  /** Left out for those who may not see the contexts. */
  readonly examples?: Preview["examples"];
}

export type PreviewDecisions = (
  environment: EnvironmentRef,
  decisions: readonly Decision[],
) => Promise<Result<ChangePreview>>;

export const createPreviewDecisions = ({
  store,
  memory,
  sample,
  now,
}: PreviewDependencies): PreviewDecisions => {
  const runInSlices = createRunInSlices(now);

  /** The flags that name a changed segment, and those that require one of these or a changed flag. */
  const touchedBy = async (
    environmentId: number,
    decisions: readonly Decision[],
  ): Promise<readonly string[]> => {
    const found = new Set(
      decisions.flatMap((each) => (each.kind === "segment" ? each.flags : [each.key])),
    );
    let level = [...found];
    for (let depth = 0; depth < maxDepth && level.length > 0; depth += 1) {
      const above = await store.requiring(environmentId, level);
      level = above.filter((key) => !found.has(key));
      for (const key of level) found.add(key);
    }
    return [...found];
  };

  return async (environment, decisions) => {
    const [view, touched] = await Promise.all([
      sample(environment.id),
      touchedBy(environment.id, decisions),
      memory.current(),
    ]);
    const found = memory.get(environment.id);
    if (!found) return noEnvironment;
    const { revision } = found;
    const changed = [
      ...new Set(decisions.flatMap((each) => (each.kind === "flag" ? each.key : []))),
    ];
    const contexts = view?.contexts ?? [];
    const preview = await runInSlices(
      previewChanges({
        ...sidesOf(found, decisions, touched),
        changed,
        touched,
        contexts: contexts.map(({ context }) => context),
      }),
    );
    return ok({
      revision,
      sample: view
        ? {
            contexts: contexts.length,
            since: view.since,
            until: view.until,
            fromClientKeys: contexts.filter(({ fromClient }) => fromClient).length,
          }
        : null,
      ...preview,
    });
  };
};

/** Examples are contexts of real people. */
export const previewFor = (
  role: Role | undefined,
  { examples, ...preview }: ChangePreview,
): ChangePreview => ({
  ...preview,
  ...(examples && role !== undefined && may({ role }, "contexts.read") && { examples }),
});
