// What a change of a flag means for users, in words.
import type { Flag, FlagPatch } from "@halyard/sdk";
import { formatNumber, formatPercent } from "../../format.ts";

const everyone = 100_000;

/** How many of 100,000 users get it: exactly the thousandths of a percent. */
export const reachOf = (flag: Flag): number => {
  if (!flag.enabled) return 0;
  return flag.type === "boolean" ? everyone : Math.round(flag.percentage * 1_000);
};

export const withPatch = (flag: Flag, patch: FlagPatch): Flag => {
  const { percentage, ...rest } = patch;
  return flag.type === "rollout" && percentage !== undefined
    ? { ...flag, ...rest, percentage }
    : { ...flag, ...rest };
};

/** The fields in which they differ, as the second has them; what the API takes to get from one to the other. */
export const patchBetween = (from: Flag, to: Flag): FlagPatch => ({
  ...(from.enabled !== to.enabled && { enabled: to.enabled }),
  ...(from.type === "rollout" &&
    to.type === "rollout" &&
    from.percentage !== to.percentage && { percentage: to.percentage }),
  ...(from.description !== to.description && { description: to.description }),
});

export const isEmptyPatch = (patch: FlagPatch): boolean => Object.keys(patch).length === 0;

/** "2,500 of every 10,000 users": as few as give a whole number. */
const countOf = (thousandths: number, more: string): string => {
  const isWhole = thousandths % 10 === 0;
  const count = isWhole ? thousandths / 10 : thousandths;
  const base = isWhole ? everyone / 10 : everyone;
  return `about ${formatNumber(count)}${more} of every ${formatNumber(base)} users`;
};

/** Who gets it and who loses it, as a sentence without its end. */
export const effectOf = (before: Flag, after: Flag): string => {
  const was = reachOf(before);
  const will = reachOf(after);
  if (was === will) {
    return !before.enabled && !after.enabled
      ? "nobody notices while the flag is off"
      : "nobody gets it and nobody loses it";
  }
  if (was === 0 && will === everyone) return "everyone gets it";
  if (will === 0 && was === everyone) return "everyone loses it";
  if (will > was) {
    const gained = countOf(will - was, was === 0 ? "" : " more");
    return `${gained}${was === 0 ? " get it" : ""}, nobody loses it`;
  }
  if (will === 0) return `all who have it lose it, ${countOf(was, "")}`;
  return `${countOf(was - will, "")} lose it`;
};

const stateOf = (flag: Flag): string => {
  if (!flag.enabled) return "off";
  return flag.type === "boolean" ? "on" : formatPercent(flag.percentage);
};

/** The setting of a flag in a word or two. */
export const settingOf = (flag: Flag): string => {
  if (flag.type === "boolean") return flag.enabled ? "on for everyone" : "off";
  const share = formatPercent(flag.percentage);
  return flag.enabled ? `on for ${share}` : `off, ${share} when on`;
};

/** "25 % → 50 %: about 2,500 more of every 10,000 users, nobody loses it." */
export const summaryOf = (before: Flag, after: Flag): readonly string[] => {
  const sentences: string[] = [];
  const isTurned = before.enabled !== after.enabled;
  const isMoved =
    before.type === "rollout" && after.type === "rollout" && before.percentage !== after.percentage;
  if (isTurned || isMoved) {
    const isBehindOff = isMoved && !before.enabled && !after.enabled;
    const change = isBehindOff
      ? `${formatPercent(before.percentage)} → ${formatPercent(after.percentage)}`
      : `${stateOf(before)} → ${stateOf(after)}`;
    sentences.push(`${change}: ${effectOf(before, after)}.`);
  }
  if (before.description !== after.description) {
    sentences.push("The description changes; no user notices.");
  }
  return sentences;
};

export interface FieldChange {
  readonly field: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const fieldsOf = (flag: Flag | null): Readonly<Record<string, string | undefined>> =>
  flag === null
    ? {}
    : {
        type: flag.type,
        enabled: flag.enabled ? "on" : "off",
        rollout: flag.type === "rollout" ? formatPercent(flag.percentage) : undefined,
        description: flag.description ?? undefined,
      };

/** Field by field; what stayed the same is left out. */
export const diffOf = (before: Flag | null, after: Flag | null): readonly FieldChange[] => {
  const old = fieldsOf(before);
  const young = fieldsOf(after);
  return ["type", "enabled", "rollout", "description"]
    .filter((field) => old[field] !== young[field])
    .map((field) => ({ field, before: old[field], after: young[field] }));
};
