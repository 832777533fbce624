// Rounds a preview for roles that can't read contexts: its counts reveal nothing about a single person.
import { createHmac } from "node:crypto";
import { intervalOf } from "@halyard/core/preview/interval";
import type { Decision } from "../../writes/change.ts";
import type { ChangePreview } from "./preview.ts";

/** Rounds a count. Equal counts in one preview round alike, so repeating a count reveals nothing more. */
export type Round = (count: number) => number;

const step = 10;
/** Smaller counts are 0. */
const smallest = 20;
/** Of the Laplace distribution. Rounding alone does not help: padded with known contexts, a group reveals one more person. */
const noiseScale = 5;
/** The noise stays within this in 95 of 100 cases. */
const noiseMargin = Math.ceil(noiseScale * Math.log(20));

export type Rounding = (decisions: readonly Decision[]) => Round;

/** The same decisions round alike, so that repeating a preview does not average the noise away. */
export const createRounding = (secret: Uint8Array): Rounding => {
  const uniform = (text: string): number =>
    (createHmac("sha256", secret).update(text).digest().readUIntBE(0, 6) + 0.5) / 2 ** 48;
  return (decisions) => {
    const question = JSON.stringify(
      decisions.map(({ kind, key, before, after }) => [kind, key, before, after]),
    );
    return (count) => {
      const centered = uniform(`${count} ${question}`) - 0.5;
      const noise = -noiseScale * Math.sign(centered) * Math.log(1 - 2 * Math.abs(centered));
      const noisy = count + noise;
      return noisy < smallest ? 0 : Math.round(noisy / step) * step;
    };
  };
};

/** From rounded counts alone, in whole percent. The interval allows for the noise. */
const sharesOf = (count: number, of: number) => {
  if (of === 0) return { share: null, low: null, high: null };
  const at = (people: number) => intervalOf(Math.min(of, Math.max(0, people)), of);
  return {
    share: Math.round((100 * Math.min(count, of)) / of),
    low: Math.floor(at(count - noiseMargin)?.low ?? 0),
    high: Math.ceil(at(count + noiseMargin)?.high ?? 100),
  };
};

const roundedFlag = (
  flag: ChangePreview["flags"][number],
  contexts: number,
  round: Round,
): ChangePreview["flags"][number] => {
  const [changed, unknown] = [round(flag.changed), flag.unknown && round(flag.unknown)];
  const known = Math.max(0, contexts - unknown);
  return {
    ...flag,
    changed,
    unknown,
    ...sharesOf(changed, known),
    // Small ones are not even counted, because their existence reveals a person.
    flips: flag.flips
      .map((flip) => ({ ...flip, count: round(flip.count) }))
      .filter(({ count }) => count > 0)
      .map((flip) => ({ ...flip, ...sharesOf(flip.count, known) })),
    flipsLeftOut: 0,
  };
};

export const roundedPreview = (
  { examples: _examples, ...preview }: ChangePreview,
  /** The flags that the decisions themselves change: listed even when no count is left. */
  changedKeys: ReadonlySet<string>,
  round: Round,
): ChangePreview => {
  const { sample } = preview;
  // The existence of traffic is no secret.
  const counted = sample === null ? 0 : sample.contexts - preview.contextsLeftOut;
  const contexts = counted > 0 ? Math.max(step, round(counted)) : 0;
  const contextsLeftOut = preview.contextsLeftOut && round(preview.contextsLeftOut);
  // A zero here depends on the attributes that rules use, and reveals nothing about a person.
  const [changed, unknown] = [round(preview.changed), preview.unknown && round(preview.unknown)];
  const sampled = ((preview.shareAsSampled ?? 0) * counted) / 100;
  return {
    ...preview,
    rounded: true,
    sample: sample && {
      ...sample,
      contexts: contexts + contextsLeftOut,
      fromClientKeys: sample.fromClientKeys && round(sample.fromClientKeys),
    },
    changed,
    contextsLeftOut,
    unchanged: Math.max(0, contexts - changed - unknown),
    unknown,
    ...sharesOf(changed, Math.max(0, contexts - unknown)),
    shareAsSampled: sharesOf(round(Math.round(sampled)), contexts).share,
    unknownAttributes: unknown > 0 ? preview.unknownAttributes : [],
    flags: preview.flags
      .map((flag) => roundedFlag(flag, contexts, round))
      .filter(({ key, changed, unknown }) => changedKeys.has(key) || changed > 0 || unknown > 0)
      .toSorted((one, other) => other.changed - one.changed || (one.key < other.key ? -1 : 1)),
  };
};
