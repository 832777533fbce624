// Formats a preview: which users a change would affect.
import { outcomeText } from "@halyard/core/preview/outcome-text";
import type { ChangePreview } from "@halyard/sdk/management";
import { inOneLine } from "../terminal/output.ts";

type Flag = ChangePreview["flags"][number];
type Shares = Pick<ChangePreview, "share" | "low" | "high">;

const number = (value: number): string => value.toLocaleString("en-US");

/** Such as `12.6%, between 11.6 and 13.6%`. */
const shareText = ({ share, low, high }: Shares): string =>
  share === null ? "" : `${share}%, between ${low} and ${high}%`;

/** Rounded counts are marked, such as `about 1,040`. */
const countText = (count: number, { rounded }: Pick<ChangePreview, "rounded">): string => {
  if (!rounded) return number(count);
  return count === 0 ? "fewer than 20" : `about ${number(count)}`;
};

const flagLines = (
  { key, changed, exactShare, flips, flipsLeftOut }: Flag,
  preview: ChangePreview,
): readonly string[] => {
  const exact = exactShare === undefined ? "" : `; exactly ${exactShare}% of all users`;
  return [
    `${key}: ${countText(changed, preview)} would get a different value${exact}.`,
    ...flips.map(
      ({ from, to, count }) =>
        `  ${outcomeText(from)} → ${outcomeText(to)}: ${countText(count, preview)}`,
    ),
    ...(flipsLeftOut > 0 ? [`  … and ${flipsLeftOut} more kinds of changes`] : []),
  ];
};

/** For a sample without contexts. */
const exactLine = ({ key, exactShare }: Flag): readonly string[] =>
  exactShare === undefined
    ? []
    : [`${key}: exactly ${exactShare}% of all users would get a different value.`];

const sampleText = (preview: ChangePreview): string => {
  const { sample, changed, unknown, contextsLeftOut, ...shares } = preview;
  if (sample === null) return "The server samples no contexts, so only exact shares are known.";
  if (sample.contexts === 0)
    return `No users were sampled since ${sample.since}, so the impact is unknown.`;
  const counted = sample.contexts - contextsLeftOut;
  const whom = `Of ${countText(counted, preview)} users sampled since ${sample.since}`;
  if (shares.share === null) return `${whom}, the result is unknown for all.`;
  // The share excludes users with an unknown result.
  const known =
    unknown > 0 ? ` of ${countText(counted - unknown, preview)} with a known result` : "";
  return `${whom}, ${countText(changed, preview)}${known} would get a different value: ${shareText(shares)}.`;
};

export const previewLines = (preview: ChangePreview): readonly string[] => {
  const { unknown, unknownAttributes, flags, flagsLeftOut, examples = [] } = preview;
  const { contextsLeftOut } = preview;
  return [
    sampleText(preview),
    ...flags.flatMap((flag) =>
      preview.sample?.contexts ? flagLines(flag, preview) : exactLine(flag),
    ),
    ...(unknown > 0
      ? [
          `For ${countText(unknown, preview)} the result is unknown: rules use ${unknownAttributes.join(", ")}, which no context in the sample has.`,
        ]
      : []),
    ...(contextsLeftOut > 0
      ? [
          `This is a partial count: the rules take too long to evaluate for ${countText(contextsLeftOut, preview)} more users.`,
        ]
      : []),
    ...(flagsLeftOut > 0 ? [`${number(flagsLeftOut)} more flags were not evaluated.`] : []),
    ...examples
      .slice(0, 3)
      .map(
        ({ flag, context, from, to }) =>
          `For example ${JSON.stringify(context)} (${flag}: ${outcomeText(from)} → ${outcomeText(to)}).`,
      ),
  ].map(inOneLine);
};
