// Formats a flag and its changes as text.
import {
  difference,
  formatMember,
  initialOf,
  type MemberChange,
  memberOf,
} from "@halyard/core/difference";
import {
  choiceOf,
  type Flag,
  isFlagTypeName,
  membersOf,
  type PatchFlag,
} from "@halyard/core/flags/registry";
import { formatServe } from "@halyard/core/flags/variant";
import { actorText } from "@halyard/core/history/actor-text";
import type { Actor } from "@halyard/sdk/management";
import { type Cell, inOneLine } from "./output.ts";
import { ruleChanges, ruleText } from "./targeting-text.ts";

export const stateCell = ({ enabled }: Flag): Cell =>
  enabled ? { style: "green", text: "on" } : { style: "dim", text: "off" };

const countText = (count: number, one: string): string =>
  `${count} ${count === 1 ? one : `${one}s`}`;

/** The reach of the default rule while the flag is on, such as `everyone`, `25%` or `red 25%, blue 75%`. */
const baseText = (flag: Flag): string => {
  if (flag.type === "variant") return formatServe(flag.otherwise);
  if (flag.type === "rollout") return `${flag.percentage}%`;
  return choiceOf(flag).otherwise === "off" ? "no one" : "everyone";
};

/** The reach while the flag is on, such as `everyone`, `25%` or `2 rules, otherwise 25%`. */
export const reachText = (flag: Flag): string => {
  if (!isFlagTypeName(flag.type)) return "unknown (the type is newer than this command)";
  const { rules } = flag;
  if (rules === undefined) return baseText(flag);
  return `${countText(rules.length, "rule")}, otherwise ${baseText(flag)}`;
};

/** The reach as part of a sentence: `on for everyone`, `on serving red`, `on by 2 rules, otherwise 25%`. */
export const onText = (flag: Flag): string => {
  const reach = inOneLine(reachText(flag));
  if (flag.rules !== undefined) return `on by ${reach}`;
  return `on ${flag.type === "variant" ? "serving" : "for"} ${reach}`;
};

/** Fields that `reachText` covers, or that have lines of their own. */
const shownElsewhere = new Set([
  "percentage",
  "otherwise",
  "valueType",
  "variants",
  "off",
  "rules",
]);

const settingNames: Readonly<Record<string, string>> = {
  bucketBy: "split by",
  bucketSeed: "split seed",
};

/** The other fields of the flag, one line each. */
export const settingTexts = (flag: Flag): readonly (readonly [name: string, text: string])[] =>
  membersOf(flag.type)
    .filter(([name]) => memberOf(flag, name) !== undefined && !shownElsewhere.has(name))
    .map(([name]) => [
      settingNames[name] ?? name,
      formatMember(flag.type, name, memberOf(flag, name)),
    ]);

const longestValue = 80;
const shortened = (text: string): string =>
  text.length > longestValue ? `${text.slice(0, longestValue - 1)}…` : text;

/** The variants and rules, one line each. */
export const targetingLines = (flag: Flag): readonly (readonly [name: string, text: string])[] => {
  const named = (name: string, lines: readonly string[]) =>
    lines.map((line, index) => [index === 0 ? name : "", line] as const);
  const variants =
    flag.type === "variant"
      ? [
          ...named(
            "variants",
            Object.entries(flag.variants).map(
              ([name, value]) => `${name} = ${shortened(JSON.stringify(value))}`,
            ),
          ),
          ["off", flag.off] as const,
        ]
      : [];
  const rules = (flag.rules ?? []).map(
    (rule, index) => `${index + 1}. ${rule.id}: ${ruleText(rule)}`,
  );
  return [
    ...variants,
    ...named("rules", rules),
    ...(flag.type === "variant" || flag.rules !== undefined
      ? [["otherwise", baseText(flag)] as const]
      : []),
  ];
};

export interface ChangedMember extends Pick<MemberChange, "member"> {
  /** Such as `10% → 25%`. */
  readonly text: string;
}

/** Field by field. Without a flag before, the flag was created. */
export const changesBetween = (
  before: Flag | null,
  after: Flag | null,
): readonly ChangedMember[] => {
  if (after === null) return [];
  const old = before ?? initialOf(after);
  return difference(old, after).map(({ member, ...values }) => {
    const rules = member === "rules" ? ruleChanges(old.rules ?? [], after.rules ?? []) : [];
    if (rules.length > 0) return { member, text: rules.join(", ") };
    const [was, is] = [values.before, values.after].map((value) =>
      inOneLine(formatMember(after.type, member, value)),
    );
    return { member, text: `${was} → ${is}` };
  });
};

export const changesInOneLine = (before: Flag | null, after: Flag | null): string =>
  changesBetween(before, after)
    .map(({ member, text }) => `${member} ${text}`)
    .join(", ");

/** The flag of an event before the change: `previous` has the changed fields, null for unset ones. */
export const previousFlag = (flag: Flag, previous: Partial<Flag> | PatchFlag): Flag =>
  ({ ...flag, ...previous }) as Flag;

/** The user first, then the key: `Ada Lovelace (key cli)`. */
export const actorInLine = (actor: Actor): string => inOneLine(actorText(actor));

/** With the id that `halyard history --actor` takes: `ci (9f86…)`, `Ada Lovelace (key cli, 9f86…)`. */
export const actorWithId = (actor: Actor): string => {
  const { keyId, name, user } = actor;
  const id = keyId ?? user?.id;
  if (id === undefined) return actorInLine(actor);
  return keyId !== null && user
    ? actorInLine({ ...actor, name: `${name}, ${id}` })
    : `${actorInLine(actor)} (${id})`;
};

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** Such as `3 hours ago`. */
export const agoOf = (time: string): string => {
  const passed = Date.now() - Date.parse(time);
  const [unit, length] = units.find(([, each]) => passed >= each) ?? [];
  if (unit === undefined) return "less than a minute ago";
  const count = Math.floor(passed / length);
  return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
};
