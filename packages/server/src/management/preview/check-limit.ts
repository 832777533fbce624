// Asks the limit on flips about a change before it is made or proposed.
import type { Decision, EnvironmentState } from "../../domain/change.ts";
import { checkFlips, flipLimitOf } from "../../domain/preview/flip-limit.ts";
import type { Caller } from "../../domain/principal.ts";
import { ok, type Result } from "../../errors.ts";
import { type PreviewDecisions, previewFor } from "./preview.ts";

export const createCheckLimit =
  (previewDecisions: PreviewDecisions) =>
  async (
    caller: Caller,
    state: EnvironmentState,
    decisions: readonly Decision[],
  ): Promise<Result<void>> => {
    const limit = flipLimitOf(state, caller);
    if (limit === undefined || decisions.length === 0) return ok(undefined);
    const preview = await previewDecisions(caller.environment, decisions);
    return preview.ok ? checkFlips(previewFor(caller.role, preview.value), limit, caller) : preview;
  };
