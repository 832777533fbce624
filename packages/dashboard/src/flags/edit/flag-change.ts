// What a change of a flag means for users, in words.
import { difference, formatMember, memberOf, patchBetween } from "@halyard/core/difference";
import { applyPatch } from "@halyard/core/flags/change";
import {
  type CreateFlag,
  type Flag,
  type FlagMembers,
  membersOf,
  ownMembersOf,
  type PatchFlag,
  reachOf,
} from "@halyard/core/flags/registry";
import { formatNumber, formatPercent } from "../../format.ts";

const everyone = 100_000;

/** How many of 100,000 users get the flag once it is on. */
export const reachWhenOn = (flag: Flag): number => reachOf({ ...flag, enabled: true });

/** A patch that is not valid is applied too: the server says what is wrong with it. */
export const withPatch = (flag: Flag, patch: PatchFlag): Flag => {
  const changed = applyPatch(flag, patch);
  if (changed.ok) return changed.flag;
  const { description, ...members } = { ...flag, ...patch };
  // Null takes a member away.
  const left = Object.entries(members).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(left), description } as Flag;
};

export const isEmptyPatch = (patch: PatchFlag): boolean => Object.keys(patch).length === 0;

/** Whether there is a patch that makes the first flag the second: the type never changes. */
export const canRestore = (current: Flag, earlier: Flag): boolean =>
  current.type === earlier.type && !isEmptyPatch(patchBetween(current, earlier));

/** What the flag has because of its type, such as a percentage. */
export const membersOfFlag = (flag: Flag): FlagMembers =>
  Object.fromEntries(ownMembersOf(flag.type).map(([name]) => [name, memberOf(flag, name)]));

/** Whether its type has something to set besides on and off. */
export const hasSetting = (flag: Flag): boolean =>
  ownMembersOf(flag.type).some(([, { isOptional }]) => isOptional !== true);

/** "2 rules", of a flag that has rules or requires others; undefined of one whose reach says it all. */
export const rulesText = ({ rules = [], requires = [] }: Flag): string | undefined => {
  const count = (list: readonly unknown[], one: string) =>
    list.length === 0 ? [] : [`${list.length} ${one}${list.length === 1 ? "" : "s"}`];
  const parts = [...count(rules, "rule"), ...count(requires, "requirement")];
  return parts.length === 0 ? undefined : parts.join(", ");
};

/** To create it again; what is created is off. */
export const definitionOf = (flag: Flag): CreateFlag => ({
  key: flag.key,
  type: flag.type,
  description: flag.description,
  ...Object.fromEntries(
    membersOf(flag.type)
      .map(([name]) => [name, memberOf(flag, name)] as const)
      .filter(([, value]) => value !== undefined),
  ),
});

/** "2,500 of every 10,000 users": the smaller base where it gives a whole number. */
const countOf = (thousandths: number, more: string): string => {
  const isWhole = thousandths % 10 === 0;
  const count = isWhole ? thousandths / 10 : thousandths;
  const base = isWhole ? everyone / 10 : everyone;
  return `about ${formatNumber(count)}${more} of every ${formatNumber(base)} users`;
};

/** What the flag falls back to where no rule decides; undefined when nothing decides after the rules. */
const fallbackOf = (flag: Flag): string | undefined => {
  if (flag.type === "rollout") return formatPercent(flag.percentage);
  return memberText(flag, "otherwise");
};

/** "its rules, then its percentage decide who gets it". */
const decidersOf = (flag: Flag): string => {
  const { requires = [], rules = [] } = flag;
  const deciders = [
    ...(requires.length > 0 ? ["its prerequisites"] : []),
    ...(rules.length > 0 ? ["its rules"] : []),
    ...(flag.type === "rollout" ? ["its percentage"] : []),
    ...(flag.type !== "rollout" && fallbackOf(flag) !== undefined ? ["its default rule"] : []),
  ];
  return `${deciders.join(", then ")} decide who gets it`;
};

/** For a change of only the percentage or the default rule: who it applies to, and who keeps their value. */
const fallbackEffect = (before: Flag, after: Flag): string => {
  const { requires = [], rules = [] } = after;
  const whom = [
    ...(requires.length > 0 ? ["meet its prerequisites"] : []),
    ...(rules.length > 0 ? ["are not decided by a rule"] : []),
  ];
  const kept =
    before.type === "rollout" && after.type === "rollout"
      ? `; ${after.percentage > before.percentage ? "no one loses it" : "no one gains it"}`
      : "";
  return `applies to users who ${whom.join(" and ")}${kept}`;
};

const fallbacks = ["percentage", "otherwise"];

/** Who gets the flag and who loses it, as a sentence without its end. */
const effectOf = (before: Flag, after: Flag, changed: readonly string[]): string => {
  if (rulesText(before) !== undefined || rulesText(after) !== undefined) {
    if (!before.enabled && !after.enabled) return "no effect while the flag is off";
    if (!after.enabled) return "everyone who has it loses it";
    if (rulesText(after) === undefined) return `without rules it is ${settingOf(after)}`;
    const isFallback = changed.every(
      (member) => fallbacks.includes(member) || forPeople.includes(member),
    );
    return isFallback ? fallbackEffect(before, after) : decidersOf(after);
  }
  const was = reachOf(before);
  const will = reachOf(after);
  if (was === will) {
    return !before.enabled && !after.enabled
      ? "no effect while the flag is off"
      : "nobody gets it or loses it";
  }
  if (was === 0 && will === everyone) return "everyone gets it";
  if (will === 0 && was === everyone) return "everyone loses it";
  if (will > was) {
    const gained = countOf(will - was, was === 0 ? "" : " more");
    return `${gained} get it, nobody loses it`;
  }
  if (will === 0) return `everyone who has it loses it, ${countOf(was, "")}`;
  return `${countOf(was - will, "")} lose it`;
};

/** Undefined when there is no value. Texts are shown as they are. */
export const memberText = (flag: Flag, member: string): string | undefined => {
  const value = memberOf(flag, member);
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  return formatMember(flag.type, member, value, formatNumber);
};

/** Of those that changed, or else of all. The values of variants are long: which of them is given says enough. */
const membersText = (flag: Flag, changed: readonly string[]): string => {
  const own = ownMembersOf(flag.type)
    .filter(([name, { isOptional }]) => isOptional !== true || memberOf(flag, name) !== undefined)
    .map(([name]) => name);
  const touched = own.filter((name) => changed.includes(name));
  const given = flag.type === "variant" ? ["otherwise"] : own;
  return (touched.length > 0 ? touched : given)
    .map((name) => memberText(flag, name) ?? "none")
    .join(", ");
};

const stateOf = (flag: Flag, changed: readonly string[]): string => {
  if (!flag.enabled) return "off";
  return membersText(flag, changed) || "on";
};

/** The setting of a flag in a word or two. */
export const settingOf = (flag: Flag): string => {
  const reach = reachWhenOn(flag);
  const rules = rulesText(flag);
  if (rules !== undefined) {
    const fallback = fallbackOf(flag);
    const all = fallback === undefined ? rules : `${rules}, then ${fallback}`;
    return flag.enabled ? `on, ${all}` : `off, ${all} when on`;
  }
  if (!hasSetting(flag)) {
    if (!flag.enabled) return "off";
    return reach === everyone ? "on for everyone" : "on";
  }
  if (flag.type === "variant") {
    return flag.enabled ? `on: ${memberText(flag, "otherwise")}` : `off: ${flag.off}`;
  }
  const share = formatPercent(reach / 1_000);
  return flag.enabled ? `on for ${share}` : `off, ${share} when on`;
};

/** What decides who gets what, beside the members of the type. */
const deciding = ["rules", "requires", "bucketBy", "bucketSeed"];
const forPeople = ["description", "tags", "owner"];

/** "25% → 50%: about 2,500 more of every 10,000 users get it, nobody loses it." */
export const summaryOf = (before: Flag, after: Flag): readonly string[] => {
  const changed = difference(before, after).map(({ member }) => member);
  const described = changed.filter((member) => forPeople.includes(member));
  const sentences: string[] = [];
  if (changed.some((member) => deciding.includes(member))) {
    sentences.push(`Its targeting changes: ${effectOf(before, after, changed)}.`);
  } else if (changed.length > described.length) {
    const staysOff = !before.enabled && !after.enabled;
    const text = staysOff ? membersText : stateOf;
    sentences.push(
      `${text(before, changed)} → ${text(after, changed)}: ${effectOf(before, after, changed)}.`,
    );
  }
  for (const member of described) {
    const verb = member === "tags" ? "change" : "changes";
    sentences.push(`The ${member} ${verb}; users see no difference.`);
  }
  return sentences;
};

/** What a change did: "Now on for 50%. Description saved." */
export const doneOf = (before: Flag, after: Flag): string => {
  const changed = difference(before, after).map(({ member }) => member);
  const described = changed.filter((member) => forPeople.includes(member));
  return [
    ...(changed.length > described.length || described.length === 0
      ? [`Now ${settingOf(after)}.`]
      : []),
    ...described.map((member) => {
      const name = `${member.charAt(0).toUpperCase()}${member.slice(1)}`;
      return `${name} ${memberText(after, member) === undefined ? "removed" : "saved"}.`;
    }),
  ].join(" ");
};
