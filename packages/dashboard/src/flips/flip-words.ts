// Whom a change changes, in words.
import type { Shares } from "@halyard/core/preview/flips";
import { givenText, outcomeText } from "@halyard/core/preview/outcome-text";
import type { Flip } from "@halyard/core/preview/preview";
import type { ChangePreview } from "@halyard/sdk/management";
import { formatNumber } from "../format.ts";

const time = new Intl.DateTimeFormat("en", { timeStyle: "short" });

/** A sample tells no more than that; what is nearly nobody or nearly everybody is never rounded to it. */
const numberOf = (percent: number): string => {
  if (percent === 0 || percent === 100) return String(percent);
  if (percent < 0.1) return "under 0.1";
  if (percent > 99.9) return "over 99.9";
  return formatNumber(Number(percent.toFixed(percent < 10 || percent > 90 ? 1 : 0)));
};

/** "12%". */
export const shareText = (percent: number): string => `${numberOf(percent)}%`;

/** "about 12% (11–13%)"; without the interval where it says nothing more. */
export const aboutText = ({ share, low, high }: Shares): string => {
  if (share === null) return "an unknown share";
  const about = `about ${shareText(share)}`;
  if (low === null || high === null) return about;
  const [from, to] = [numberOf(low), numberOf(high)];
  return from === to ? about : `${about} (${from}–${to}%)`;
};

/** The one flip that there is. */
export const onlyFlip = ({ flags }: ChangePreview): Flip | undefined =>
  flags.length === 1 && flags[0]?.flips.length === 1 ? flags[0].flips[0] : undefined;

/** "change from off to on (rule beta)"; of flips that differ only in the rule without it; of others "get another value". */
const doingOf = (preview: ChangePreview): string => {
  const text = onlyFlip(preview) === undefined ? givenText : outcomeText;
  const flips = preview.flags.length === 1 ? (preview.flags[0]?.flips ?? []) : [];
  const kinds = new Set(flips.map(({ from, to }) => `from ${text(from)} to ${text(to)}`));
  const [only] = kinds;
  return kinds.size === 1 ? `change ${only}` : "get another value";
};

type Rounded = Pick<ChangePreview, "rounded">;

/** "about 1,040" for a rounded count. */
const countText = (count: number, { rounded }: Rounded): string => {
  if (!rounded) return formatNumber(count);
  return count === 0 ? "fewer than 20" : `about ${formatNumber(count)}`;
};

const peopleOf = (count: number, preview: Rounded): string =>
  `${countText(count, preview)} ${count === 1 ? "person" : "people"}`;

/** Those whose share of everybody is known without a sample. */
const exactOf = ({ flags, flagsLeftOut }: ChangePreview): number | undefined =>
  flags.length === 1 && flagsLeftOut === 0 ? flags[0]?.exactShare : undefined;

/** The largest that is known, which is what the limit is about. */
export const largestShare = ({ share, shareAsSampled, flags }: ChangePreview): number =>
  Math.max(share ?? 0, shareAsSampled ?? 0, ...flags.map(({ exactShare }) => exactShare ?? 0));

/** Just above what was shown: the sample may have grown a little meanwhile. */
export const boundOf = (preview: ChangePreview): number => {
  // A rounded share can be too low.
  const rounded = preview.rounded ? (preview.high ?? 0) : 0;
  return Math.min(100, Math.ceil(Math.max(largestShare(preview), rounded) + 0.5));
};

const exactText = (exact: number, doing: string): string => {
  if (exact === 0) return "Nobody gets another value";
  return exact === 100
    ? `All people ${doing}`
    : `Exactly ${shareText(exact)} of all people ${doing}`;
};

/** The answer in a sentence. */
export const headlineOf = (preview: ChangePreview): string => {
  const { sample, share, high, changed, unknown, contextsLeftOut } = preview;
  const exact = exactOf(preview);
  const doing = doingOf(preview);
  const contexts = (sample?.contexts ?? 0) - contextsLeftOut;
  const since = sample === null ? "" : `seen since ${time.format(new Date(sample.since))}`;
  if (exact !== undefined) {
    const all = exactText(exact, doing);
    if (contexts === 0) return `${all}.${sample === null ? "" : " No traffic was seen yet."}`;
    if (exact === 0 || share === null) return `${all}.`;
    return `${all}: ${countText(changed, preview)} of ${countText(contexts, preview)} ${since}.`;
  }
  if (contexts === 0) return "No traffic was seen yet, so there is nobody to count.";
  const seen = `${peopleOf(contexts, preview)} ${since}`;
  if (share === null) return `It is not known for any of the ${seen}.`;
  // The share is of those for whom it is known.
  const known = unknown === 0 ? seen : `${countText(contexts - unknown, preview)} of ${seen}`;
  if (preview.rounded && changed === 0) return `Fewer than 20 of ${known} get another value.`;
  if (changed > 0) return `Of ${known}, ${aboutText(preview)} ${doing}.`;
  const most =
    high === null || high === 0
      ? ""
      : `, so at most ${shareText(Math.ceil(high * 10) / 10)} of all people ${unknown === 0 ? "do" : "like them do"}`;
  return `None of ${unknown === 0 ? "the " : ""}${known} gets another value${most}.`;
};

/** Why the share is of fewer than were seen. */
export const unknownOf = (preview: ChangePreview): string | undefined => {
  const { unknown, unknownAttributes } = preview;
  if (unknown === 0) return undefined;
  const names = unknownAttributes.join(", ");
  const what = unknownAttributes.length === 1 ? "the attribute" : "the attributes";
  return `Not known for ${peopleOf(unknown, preview)}: nobody who was seen has ${what} ${names}.`;
};

/** Explains why not all sampled users were counted. */
export const partialOf = (preview: ChangePreview): string | undefined =>
  preview.contextsLeftOut === 0
    ? undefined
    : `This is a partial count: the rules take too much work to count ${peopleOf(preview.contextsLeftOut, preview)} more.`;
