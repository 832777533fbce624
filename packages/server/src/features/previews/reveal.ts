// Decides how much of a preview its caller sees: counts could reveal contexts that the caller can't read.

import { type Caller, may } from "../../platform/auth/principal.ts";
import { type Failure, fail, ok, type Result } from "../../platform/errors.ts";
import type { Decision } from "../../writes/change.ts";
import type { ChangePreview } from "./preview.ts";
import { type Rounding, roundedPreview } from "./rounded-preview.ts";

/** Counts by name; both return the seconds to wait once the limit is reached. */
export interface Budget {
  take(name: string, amount: number): number | undefined;
  waiting(name: string): number | undefined;
}

/** The number of flags that previews count in an hour for a caller who can't read contexts. */
export const countedFlagsPerHour = 240;

/** Personal keys and sessions of one person share a limit. */
const holderOf = ({ actor, environment }: Caller): string =>
  `${environment.id} ${actor.user?.id ?? actor.keyId}`;

const exhausted = (wait: number): Failure => ({
  code: "RATE_LIMITED",
  message: `Previews counted ${countedFlagsPerHour} flags for you in the last hour, the maximum without access to contexts; try again in ${wait} s.`,
  retryAfter: wait,
});

export const createReveal = (rounding: Rounding, budget: Budget) => ({
  /** Fails when the caller has used up the limit. Check before counting a preview. */
  check(caller: Caller, isRounded = false): Result<void> {
    if (!isRounded && mayReadContexts(caller)) return ok(undefined);
    const wait = budget.waiting(holderOf(caller));
    return wait === undefined ? ok(undefined) : fail(exhausted(wait));
  },

  /** `isRounded`: the caller wants no more than rounded counts. */
  show(
    caller: Caller,
    decisions: readonly Decision[],
    preview: ChangePreview,
    isRounded = false,
  ): ChangePreview {
    if (!isRounded && mayReadContexts(caller)) return preview;
    const changedKeys = new Set(decisions.map(({ key }) => key));
    const shown = roundedPreview(preview, changedKeys, rounding(decisions));
    // Those that round to nothing were counted too.
    budget.take(holderOf(caller), Math.max(1, preview.flags.length));
    return shown;
  },
});
export type Reveal = ReturnType<typeof createReveal>;

const mayReadContexts = ({ role }: Caller): boolean =>
  role !== undefined && may({ role }, "contexts.read");
