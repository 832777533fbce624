// A preview in words: whom a change would hit.
import { outcomeText } from "@halyard/core/preview/outcome-text";
import type { ChangePreview } from "@halyard/sdk";
import { inOneLine } from "../terminal/output.ts";

type Flag = ChangePreview["flags"][number];
type Shares = Pick<ChangePreview, "share" | "low" | "high">;

const number = (value: number): string => value.toLocaleString("en-US");

/** `12.6 %, between 11.6 and 13.6 %`. */
const shareText = ({ share, low, high }: Shares): string =>
  share === null ? "" : `${share} %, between ${low} and ${high} %`;

const flagLines = ({ key, changed, exactShare, flips, flipsLeftOut }: Flag): readonly string[] => {
  const exact = exactShare === undefined ? "" : `; of everybody exactly ${exactShare} %`;
  return [
    `${key}: ${number(changed)} would get another value${exact}.`,
    ...flips.map(
      ({ from, to, count }) => `  ${outcomeText(from)} → ${outcomeText(to)}: ${number(count)}`,
    ),
    ...(flipsLeftOut > 0 ? [`  … and ${flipsLeftOut} more kinds of flips`] : []),
  ];
};

/** Without anybody to count. */
const exactLine = ({ key, exactShare }: Flag): readonly string[] =>
  exactShare === undefined
    ? []
    : [`${key}: of everybody, exactly ${exactShare} % would get another value.`];

const sampleText = ({ sample, changed, unknown, ...shares }: ChangePreview): string => {
  if (sample === null)
    return "The server keeps no sample of contexts: only what is exact is known.";
  if (sample.contexts === 0)
    return `Nobody was seen since ${sample.since}: there is nothing to count.`;
  const whom = `Of ${number(sample.contexts)} people seen since ${sample.since}`;
  if (shares.share === null)
    return `${whom}, of none it can be known whether they would get another value.`;
  // The share is of those for whom it is known.
  const known = unknown > 0 ? ` of ${number(sample.contexts - unknown)} for whom it is known` : "";
  return `${whom}, ${number(changed)}${known} would get another value: ${shareText(shares)}.`;
};

export const previewLines = (preview: ChangePreview): readonly string[] => {
  const { unknown, unknownAttributes, flags, flagsLeftOut, examples = [] } = preview;
  return [
    sampleText(preview),
    ...flags.flatMap(preview.sample?.contexts ? flagLines : exactLine),
    ...(unknown > 0
      ? [
          `Of ${number(unknown)} it cannot be known: rules ask for ${unknownAttributes.join(", ")}, which the sample has of nobody.`,
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
