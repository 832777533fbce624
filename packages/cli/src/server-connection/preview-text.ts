// A preview in words: whom a change would hit.
import { outcomeText } from "@halyard/core/preview/outcome-text";
import type { ChangePreview } from "@halyard/sdk/management";
import { inOneLine } from "../terminal/output.ts";

type Flag = ChangePreview["flags"][number];
type Shares = Pick<ChangePreview, "share" | "low" | "high">;

const number = (value: number): string => value.toLocaleString("en-US");

/** `12.6 %, between 11.6 and 13.6 %`. */
const shareText = ({ share, low, high }: Shares): string =>
  share === null ? "" : `${share} %, between ${low} and ${high} %`;

/** `about 1,040` for a rounded count. */
const countText = (count: number, { rounded }: Pick<ChangePreview, "rounded">): string => {
  if (!rounded) return number(count);
  return count === 0 ? "fewer than 20" : `about ${number(count)}`;
};

const flagLines = (
  { key, changed, exactShare, flips, flipsLeftOut }: Flag,
  preview: ChangePreview,
): readonly string[] => {
  const exact = exactShare === undefined ? "" : `; of everybody exactly ${exactShare} %`;
  return [
    `${key}: ${countText(changed, preview)} would get another value${exact}.`,
    ...flips.map(
      ({ from, to, count }) =>
        `  ${outcomeText(from)} → ${outcomeText(to)}: ${countText(count, preview)}`,
    ),
    ...(flipsLeftOut > 0 ? [`  … and ${flipsLeftOut} more kinds of flips`] : []),
  ];
};

/** Without anybody to count. */
const exactLine = ({ key, exactShare }: Flag): readonly string[] =>
  exactShare === undefined
    ? []
    : [`${key}: of everybody, exactly ${exactShare} % would get another value.`];

const sampleText = (preview: ChangePreview): string => {
  const { sample, changed, unknown, contextsLeftOut, ...shares } = preview;
  if (sample === null)
    return "The server keeps no sample of contexts: only what is exact is known.";
  if (sample.contexts === 0)
    return `Nobody was seen since ${sample.since}: there is nothing to count.`;
  const counted = sample.contexts - contextsLeftOut;
  const whom = `Of ${countText(counted, preview)} people seen since ${sample.since}`;
  if (shares.share === null)
    return `${whom}, of none it can be known whether they would get another value.`;
  // The share is of those for whom it is known.
  const known =
    unknown > 0 ? ` of ${countText(counted - unknown, preview)} for whom it is known` : "";
  return `${whom}, ${countText(changed, preview)}${known} would get another value: ${shareText(shares)}.`;
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
          `This is a partial count: the rules take too much work to count ${countText(contextsLeftOut, preview)} more people.`,
        ]
      : []),
    ...(flagsLeftOut > 0 ? [`${number(flagsLeftOut)} more flags were not looked at.`] : []),
    ...examples
      .slice(0, 3)
      .map(
        ({ flag, context, from, to }) =>
          `For example ${JSON.stringify(context)} (${flag}: ${outcomeText(from)} → ${outcomeText(to)}).`,
      ),
  ].map(inOneLine);
};
