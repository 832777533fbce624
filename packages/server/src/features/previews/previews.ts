// Previews that somebody asks for: the operations are tried out, and nothing is written.

import type { Caller } from "../../platform/auth/principal.ts";
import { type Failure, fail, ok, type Result } from "../../platform/errors.ts";
import type { Changes } from "../../writes/changes.ts";
import type { Planned } from "../../writes/operation.ts";
import type { RefusedOperation } from "../../writes/operations.ts";
import type { ChangePreview, PreviewDecisions } from "./preview.ts";
import type { Reveal } from "./reveal.ts";

interface PreviewOptions {
  /** Returns the error for an operation that was rejected. */
  readonly describe: (refused: RefusedOperation) => Failure;
  /** Rounds the counts even for callers that may read contexts. */
  readonly rounded?: boolean | undefined;
}

export type Previews = (
  caller: Caller,
  planned: readonly Planned[],
  options: PreviewOptions,
) => Promise<Result<ChangePreview>>;

/** So many may wait for their turn: changes under a limit on flips wait behind them. */
const maxAsked = 16;

const busy = fail({
  code: "UNAVAILABLE",
  message: "Too many previews were asked for at once; try again.",
});

export const createPreviews = (
  changes: Changes,
  previewDecisions: PreviewDecisions,
  reveal: Reveal,
): Previews => {
  let asked = 0;
  return async (caller, planned, { describe, rounded }) => {
    if (asked === maxAsked) return busy;
    const allowed = reveal.check(caller, rounded);
    if (!allowed.ok) return allowed;
    const { environment, actor } = caller;
    asked += 1;
    try {
      const tried = await changes.dryRun(environment.id, actor, planned);
      if (!tried.ok) return fail(describe(tried.refused));
      const preview = await previewDecisions(environment, tried.value.decisions);
      return preview.ok
        ? ok(reveal.show(caller, tried.value.decisions, preview.value, rounded))
        : preview;
    } finally {
      asked -= 1;
    }
  };
};
