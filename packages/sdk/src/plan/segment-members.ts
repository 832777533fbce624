// Changes of the lists of a segment. Long ones are sent in parts, each small enough for one request.
import { bytesOf } from "@halyard/core/flags/rules";
import { type MemberList, memberLists, type Segment } from "@halyard/core/targeting/segment";
import type { Management } from "../management/management.ts";

/** Removals come first, to make room for additions. */
const verbs = ["remove", "add"] as const;

/** What to add to the lists of a segment and what to remove. */
export type MembersChange = {
  readonly [List in MemberList]?: {
    readonly [Verb in (typeof verbs)[number]]?: readonly string[];
  };
};

type Lists = Pick<Segment, MemberList>;

/** The additions and removals that turn the lists of one segment into those of the other. */
export const membersBetween = (before: Lists, after: Lists): MembersChange => {
  const changes = memberLists.map((list) => {
    const [old, now] = [new Set(before[list]), new Set(after[list])];
    const add = after[list].filter((member) => !old.has(member));
    const remove = before[list].filter((member) => !now.has(member));
    return [list, { add, remove }] as const;
  });
  return Object.fromEntries(changes);
};

type Part = { [List in MemberList]?: { [Verb in (typeof verbs)[number]]?: string[] } };

/** The server accepts requests of up to 256 KiB. */
const maxPartBytes = 200 * 1_024;

/** Of the member as JSON, with its comma. */
const sizeOf = (member: string): number => bytesOf(JSON.stringify(member)) + 1;

export const partsOf = (change: MembersChange): readonly MembersChange[] => {
  const parts: Part[] = [];
  let left = 0;
  for (const list of memberLists) {
    for (const verb of verbs) {
      for (const member of change[list]?.[verb] ?? []) {
        const size = sizeOf(member);
        if (size > left || parts.length === 0) {
          left = maxPartBytes;
          parts.push({});
        }
        left -= size;
        const part = parts.at(-1) ?? {};
        const lists = part[list] ?? {};
        part[list] = lists;
        const members = lists[verb] ?? [];
        lists[verb] = members;
        members.push(member);
      }
    }
  }
  return parts;
};

type Changed = Awaited<ReturnType<Management["segments"]["changeMembers"]>>;

/** Part after part, up to the first that fails. Undefined when there is nothing to change. */
export const changeMembers = async (
  { segments }: Management,
  key: string,
  change: MembersChange,
  options: {
    readonly ifMatch?: number;
    readonly reason?: string;
    /** Makes each call, when it takes more than one attempt. */
    readonly call?: (send: () => Promise<Changed>) => Promise<Changed>;
  } = {},
): Promise<Changed | undefined> => {
  const { call = (send: () => Promise<Changed>) => send(), reason } = options;
  let { ifMatch } = options;
  let last: Changed | undefined;
  for (const part of partsOf(change)) {
    const given = {
      ...(ifMatch !== undefined && { ifMatch }),
      ...(reason !== undefined && { reason }),
    };
    last = await call(() => segments.changeMembers(key, part, given));
    if (!last.ok) return last;
    if (ifMatch !== undefined) ifMatch = last.version;
  }
  return last;
};
