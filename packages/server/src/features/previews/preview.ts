// Whom decisions would hit: of the contexts that were asked about lately, those that would get another value.
import type { EvaluationContext } from "@halyard/core/context";
import { type Preview, previewChanges } from "@halyard/core/preview/preview";
import { maxDepth } from "@halyard/core/targeting/decision";
import type { EnvironmentRef } from "../../platform/auth/principal.ts";
import type { Store } from "../../platform/database/store.ts";
import { noEnvironment, ok, type Result } from "../../platform/errors.ts";
import type { Decision } from "../../writes/change.ts";
import { type PreviewMemory, sidesOf } from "./sides.ts";

type RunInSlices = <T>(work: Generator<void, T>) => Promise<T>;

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
  readonly runInSlices: RunInSlices;
  /** Previews run one after the other: each takes memory for the whole sample. */
  readonly queue: { run<T>(task: () => Promise<T>): Promise<T> };
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
  /** True when the counts are rounded, because the caller can't read contexts. */
  readonly rounded?: true;
  /** Only for callers that may read contexts. */
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
  runInSlices,
  queue,
}: PreviewDependencies): PreviewDecisions => {
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

  const preview: PreviewDecisions = async (environment, decisions) => {
    const [view, touched] = await Promise.all([
      sample(environment.id),
      touchedBy(environment.id, decisions),
      memory.current(),
    ]);
    const state = memory.get(environment.id);
    if (!state) return noEnvironment;
    const { revision } = state;
    const changed = [
      ...new Set(decisions.flatMap((each) => (each.kind === "flag" ? each.key : []))),
    ];
    const contexts = view?.contexts ?? [];
    const counted = await runInSlices(
      previewChanges({
        ...sidesOf(state, decisions, touched),
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
      ...counted,
    });
  };
  return (environment, decisions) => queue.run(() => preview(environment, decisions));
};
