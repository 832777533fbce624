// The limit on flips: a change that would give another value to more than so many percent of people is refused.
import { isPercentage } from "@halyard/core/percentage";
import type { Preview } from "@halyard/core/preview/preview";
import { type Failure, fail, invalid, ok, type Result } from "../../errors.ts";
import type { EnvironmentState } from "../change.ts";
import type { Caller } from "../principal.ts";

export const percentRule = "a number from 0 to 100 with at most three decimals";

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

/** How many percent flip: in the sample, or where it follows from a flag alone. */
const flipsOf = ({ share, shareAsSampled, flags }: Flips): number =>
  Math.max(share ?? 0, shareAsSampled ?? 0, ...flags.map(({ exactShare = 0 }) => exactShare));

export const checkFlips = (
  preview: Flips,
  limit: number,
  { confirmFlips }: Pick<Caller, "confirmFlips">,
): Result<void> => {
  const flips = flipsOf(preview);
  if (flips <= Math.max(limit, confirmFlips ?? 0)) return ok(undefined);
  const confirmed =
    confirmFlips === undefined ? "" : ` and more than the ${confirmFlips} % confirmed`;
  const failure: Failure = {
    code: "TOO_MANY_FLIPS",
    message: `The change would give another value to ${flips} %, more than the limit of ${limit} %${confirmed}; look at the preview, and repeat it with confirmFlips=${Math.ceil(flips)} if that is right.`,
    preview,
  };
  return fail(failure);
};
