// The answer to "whom does this change?": how many, from what to what, by which rule, and what is not known.

import { outcomeText } from "@halyard/core/preview/outcome-text";
import type { PreviewedFlag } from "@halyard/core/preview/preview";
import type { ChangePreview } from "@halyard/sdk/management";
import { formatNumber } from "../format.ts";
import { aboutText, headlineOf, onlyFlip, partialOf, unknownOf } from "./flip-words.ts";
import "./flips.css";

/** More would push what is asked out of a dialog. */
const [mostFlags, mostLines] = [5, 6];

const FlagFlips = ({
  flag,
  isAlone,
}: {
  readonly flag: PreviewedFlag;
  readonly isAlone: boolean;
}) => {
  const { key, flips, flipsLeftOut } = flag;
  const left = Math.max(0, flips.length - mostLines) + flipsLeftOut;
  return (
    <li>
      {!isAlone && (
        <p className="flips-flag">
          <strong className="mono">{key}</strong> <span>{aboutText(flag)}</span>
        </p>
      )}
      <ul>
        {flips.slice(0, mostLines).map((flip) => (
          <li key={JSON.stringify([flip.from, flip.to])} className="flips-line">
            <span>
              {outcomeText(flip.from)} <span aria-hidden="true">→</span>
              <span className="visually-hidden"> to </span> {outcomeText(flip.to)}
            </span>
            <span>{aboutText(flip)}</span>
          </li>
        ))}
        {left > 0 && <li className="dimmed">and {formatNumber(left)} more kinds of changes</li>}
      </ul>
    </li>
  );
};

const valueText = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

interface ExamplesProps {
  readonly examples: NonNullable<ChangePreview["examples"]>;
  /** Whether all of them get the same, which is said already. */
  readonly isAlike: boolean;
}

const Examples = ({ examples, isAlike }: ExamplesProps) => (
  <details className="flips-examples">
    <summary>Examples ({examples.length})</summary>
    <ul>
      {examples.map(({ flag, context, from, to }) => (
        <li key={JSON.stringify([flag, context])}>
          <span className="mono">
            {Object.entries(context)
              .map(([name, value]) => `${name}: ${valueText(value)}`)
              .join(", ") || "an empty context"}
          </span>
          {!isAlike && (
            <span className="dimmed">
              {flag}: {outcomeText(from)} → {outcomeText(to)}
            </span>
          )}
        </li>
      ))}
    </ul>
  </details>
);

interface FlipsProps {
  /** Undefined while it is not known yet. */
  readonly preview: ChangePreview | undefined;
  /** Of what the change was a moment ago. */
  readonly isOld?: boolean;
}

const Answer = ({ preview }: { readonly preview: ChangePreview }) => {
  const { flags, flagsLeftOut, examples = [], sample } = preview;
  const changing = flags.filter(({ changed }) => changed > 0);
  const left = changing.length - mostFlags;
  const isAlike = onlyFlip(preview) !== undefined;
  const unknown = unknownOf(preview);
  const partial = partialOf(preview);
  return (
    <>
      <p className="flips-headline">{headlineOf(preview)}</p>
      {changing.length > 0 && !isAlike && (
        <ul className="flips-flags">
          {changing.slice(0, mostFlags).map((flag) => (
            <FlagFlips key={flag.key} flag={flag} isAlone={flags.length === 1} />
          ))}
          {left > 0 && <li className="dimmed">and {formatNumber(left)} more flags</li>}
        </ul>
      )}
      {flagsLeftOut > 0 && (
        <p className="dimmed">{formatNumber(flagsLeftOut)} more flags were too many to look at.</p>
      )}
      {partial !== undefined && <p className="dimmed">{partial}</p>}
      {unknown !== undefined && <p className="dimmed">{unknown}</p>}
      {sample !== null && sample.fromClientKeys > 0 && (
        <p className="dimmed">
          {formatNumber(sample.fromClientKeys)} of those seen came with client keys, with which
          anybody can send contexts.
        </p>
      )}
      {examples.length > 0 && <Examples examples={examples} isAlike={isAlike} />}
    </>
  );
};

export const Flips = ({ preview, isOld = false }: FlipsProps) => (
  // No landmark: a draft and the dialog that saves it have one each.
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs
  <div
    role="group"
    className="flips"
    aria-label="Whom this changes"
    aria-live="polite"
    aria-busy={preview === undefined || isOld}
  >
    {preview !== undefined && <Answer preview={preview} />}
  </div>
);
