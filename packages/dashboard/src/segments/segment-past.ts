// A segment as a version left it: from what it is now, back through the changes since.
import type { ListChange, MemberList, Segment } from "@halyard/core/targeting/segment";
import { memberLists } from "@halyard/core/targeting/segment";
import type { HistoryEntry, Management, Result } from "@halyard/sdk/management";

type Lists = Readonly<Record<MemberList, ReadonlySet<string>>>;

const none: Lists = { include: new Set(), exclude: new Set() };

const listsOf = (segment: Pick<Segment, MemberList>): Lists => ({
  include: new Set(segment.include),
  exclude: new Set(segment.exclude),
});

/** The lists before a change. Only a deletion has them whole. */
const before = (lists: Lists, entry: HistoryEntry): Lists => {
  if (entry.after === null) return listsOf(entry.before as unknown as Segment);
  const changes = entry.after as { readonly [List in MemberList]?: ListChange };
  const undone = (list: MemberList): ReadonlySet<string> => {
    const { added = [], removed = [] } = changes[list] ?? {};
    return lists[list].difference(new Set(added)).union(new Set(removed));
  };
  return { include: undone("include"), exclude: undone("exclude") };
};

/**
 * `current` is undefined when the segment is deleted, `entries` are its changes, newest first, from the last one to the version.
 * Of a deletion, what was deleted.
 */
export const segmentAt = (
  key: string,
  current: Segment | undefined,
  entries: readonly HistoryEntry[],
): Segment | undefined => {
  const wanted = entries.at(-1);
  let lists = current === undefined ? none : listsOf(current);
  for (const entry of entries.slice(0, -1)) lists = before(lists, entry);
  if (wanted?.after === null) lists = before(lists, wanted);
  const about = (wanted?.after ?? wanted?.before) as Pick<Segment, "description" | "when"> | null;
  if (!about) return undefined;
  const { description, when } = about;
  const [include, exclude] = memberLists.map((list) => [...lists[list]]);
  return { key, description, when, include: include ?? [], exclude: exclude ?? [] };
};

/** The changes from the last one back to a version; what is too old to be in history is missing. */
export const changesBackTo = async (
  { historyPages }: Management,
  key: string,
  version: number,
): Promise<Result<readonly HistoryEntry[]>> => {
  const entries: HistoryEntry[] = [];
  for await (const page of historyPages({ subject: "segment", id: key, limit: 100 })) {
    if (!page.ok) return page;
    for (const entry of page.value) {
      entries.push(entry);
      if (entry.version === version) return { ok: true, value: entries };
    }
  }
  return { ok: true, value: [] };
};
