// Checks the impact limit before a change is made or proposed.

import type { Caller } from "../../platform/auth/principal.ts";
import { ok, type Result } from "../../platform/errors.ts";
import type { Decision, EnvironmentState } from "../../writes/change.ts";
import { checkFlips, flipLimitOf, flipsUnchecked } from "../../writes/impact-limit.ts";
import type { PreviewDecisions } from "./preview.ts";
import type { Reveal } from "./reveal.ts";

export type CheckLimit = (
  caller: Caller,
  state: EnvironmentState,
  decisions: readonly Decision[],
) => Promise<Result<void>>;

export const createCheckLimit =
  (previewDecisions: PreviewDecisions, reveal: Reveal): CheckLimit =>
  async (caller, state, decisions) => {
    const limit = flipLimitOf(state, caller);
    // No change flips more than that, so there is nothing to check.
    const isConfirmed = caller.confirmFlips === 100;
    if (limit === undefined || decisions.length === 0 || isConfirmed) return ok(undefined);
    // Whether the limit is exceeded reveals something too.
    const allowed = reveal.check(caller);
    if (!allowed.ok) return flipsUnchecked(limit, allowed.failure);
    const preview = await previewDecisions(caller.environment, decisions);
    if (!preview.ok) return preview;
    return checkFlips(preview.value, limit, caller, () =>
      reveal.show(caller, decisions, preview.value),
    );
  };
