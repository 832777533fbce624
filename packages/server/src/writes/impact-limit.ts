// The limit on flips: a change that would give another value to more than so many percent of people is refused.

import { isPercentage } from "@halyard/core/percentage";
import type { Preview } from "@halyard/core/preview/preview";
import type { Caller } from "../platform/auth/principal.ts";
import { type Failure, fail, invalid, ok, type Result } from "../platform/errors.ts";
import { percentRule } from "../platform/http/openapi/impact-limit.ts";
import type { EnvironmentState } from "./change.ts";

export const checkMaxFlips = (maxFlips: number): Result<void> =>
  isPercentage(maxFlips) ? ok(undefined) : invalid("maxFlips", `must be ${percentRule}, or null`);

/** The lower one of the environment's and the key's; undefined when there is none. */
export const flipLimitOf = (
  state: Pick<EnvironmentState, "maxFlips">,
  { maxFlips }: Pick<Caller, "maxFlips">,
): number | undefined => {
  const limits = [state.maxFlips ?? undefined, maxFlips].filter((each) => each !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits);
};

type Flips = Pick<Preview, "share" | "shareAsSampled" | "flags">;
type ShownFlips = Flips & Pick<Preview, "high"> & { readonly rounded?: true };

/** The largest share in percent: in the sample, or exact where it follows from a flag alone. */
const flipsOf = ({ share, shareAsSampled, flags }: Flips): number =>
  Math.max(share ?? 0, shareAsSampled ?? 0, ...flags.map(({ exactShare = 0 }) => exactShare));

/** Rounded counts of a preview can be too low: `high` allows for that. */
const boundOf = (shown: ShownFlips): number =>
  Math.ceil(Math.max(flipsOf(shown), shown.rounded ? (shown.high ?? 0) : 0));

/** The caller may not learn whether the limit is exceeded, so all of the change has to be confirmed. */
export const flipsUnchecked = (limit: number, { message }: Failure): Result<never> =>
  fail({
    code: "TOO_MANY_FLIPS",
    message: `Whether the change gives another value to more than the limit of ${limit}% was not checked: ${message.replace(/\.$/, "")}; repeat it with confirmFlips=100 if it is right.`,
  });

/** `show` returns the preview as the caller may see it. */
export const checkFlips = (
  preview: Flips,
  limit: number,
  { confirmFlips }: Pick<Caller, "confirmFlips">,
  show: () => ShownFlips,
): Result<void> => {
  const flips = flipsOf(preview);
  if (flips <= Math.max(limit, confirmFlips ?? 0)) return ok(undefined);
  const confirmed =
    confirmFlips === undefined ? "" : ` and more than the ${confirmFlips}% confirmed`;
  const shown = show();
  const about = shown.rounded ? `about ${flipsOf(shown)}` : flipsOf(shown);
  const failure: Failure = {
    code: "TOO_MANY_FLIPS",
    message: `The change would give another value to ${about}%, more than the limit of ${limit}%${confirmed}; look at the preview, and repeat it with confirmFlips=${boundOf(shown)} if that is right.`,
    preview: shown,
  };
  return fail(failure);
};
