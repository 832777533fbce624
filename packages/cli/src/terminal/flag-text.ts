// A flag and its changes as text, for people.
import {
  difference,
  formatMember,
  initialOf,
  type MemberChange,
  memberOf,
} from "@halyard/core/difference";
import {
  type Flag,
  isFlagTypeName,
  membersOf,
  type PatchFlag,
  reachOf,
} from "@halyard/core/flags/registry";
import { allThousandths, fromThousandths } from "@halyard/core/percentage";
import type { Actor } from "@halyard/sdk";
import { type Cell, inOneLine } from "./output.ts";

export const stateCell = ({ enabled }: Flag): Cell =>
  enabled ? { style: "green", text: "on" } : { style: "dim", text: "off" };

/** Whom it reaches while it is on, such as `everyone` or `25 %`. */
export const reachText = (flag: Flag): string => {
  if (!isFlagTypeName(flag.type)) return "unknown (the type is newer than this command)";
  const reach = reachOf({ ...flag, enabled: true });
  const isEveryone = reach === allThousandths && memberOf(flag, "percentage") === undefined;
  return isEveryone ? "everyone" : `${fromThousandths(reach)} %`;
};

/** The members of its type that `reachText` does not show already. */
export const settingTexts = (flag: Flag): readonly (readonly [name: string, text: string])[] => {
  const reach = reachText(flag);
  return membersOf(flag.type)
    .map(([name]) => [name, formatMember(flag.type, name, memberOf(flag, name))] as const)
    .filter(([, text]) => text !== reach);
};

export interface ChangedMember extends Pick<MemberChange, "member"> {
  /** Such as `10 % → 25 %`. */
  readonly text: string;
}

/** Member by member. `before` may hold only what changed; without it, the flag was created. */
export const changesBetween = (
  before: Partial<Flag> | PatchFlag | null,
  after: Flag | null,
): readonly ChangedMember[] => {
  if (after === null) return [];
  const old = before === null ? initialOf(after) : ({ ...after, ...before } as Flag);
  return difference(old, after).map(({ member, ...values }) => {
    const [was, is] = [values.before, values.after].map((value) =>
      inOneLine(formatMember(after.type, member, value)),
    );
    return { member, text: `${was} → ${is}` };
  });
};

export const changesInOneLine = (
  before: Partial<Flag> | PatchFlag | null,
  after: Flag | null,
): string =>
  changesBetween(before, after)
    .map(({ member, text }) => `${member} ${text}`)
    .join(", ");

export const actorText = ({ keyId, name }: Actor): string =>
  inOneLine(keyId === null ? name : `${name} (${keyId})`);

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
