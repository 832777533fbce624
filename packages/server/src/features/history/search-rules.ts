// Finds history entries by partial text, ignoring case. Matched here instead of in the database: SQLite
// and PostgreSQL fold the case of most scripts differently.
import { actorText } from "@halyard/core/history/actor-text";
import type { HistoryEntry, SearchedEntry } from "../../writes/history-entry.ts";

/** Each field is a part of a text. An entry must match all given fields. */
export interface HistorySearch {
  /** In the changed object's key or id, name, title, address or description, or in the reason. */
  readonly text?: string;
  /** In the name or the id of the person or the API key. */
  readonly who?: string;
  /** In a tag, or in the owner, of the flag: as it is now, or as it was before or after the change. */
  readonly tag?: string;
  readonly owner?: string;
}

/** The parts of an entry that the caller can see. */
export interface Visible {
  /** The flag as it is now; undefined when it is gone. */
  readonly flagNow: (key: string) => object | undefined;
  /** `before` or `after` of an entry without its secrets: a search must not find what is hidden. */
  readonly state: (subject: HistoryEntry["subject"], state: unknown) => unknown;
}

type State = Readonly<Record<string, unknown>>;

/** Makes texts equal that differ in case or in compatible forms: Ä and ä, ß and SS, σ and ς, ﬁ and fi. Accents count. */
const fold = (text: string): string =>
  text.normalize("NFKC").toLowerCase().toUpperCase().normalize("NFKC");

const stringsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
};

/** The names and descriptions of an object, other than its key. */
const namesOf = ({ name, title, url, description, operations }: State): readonly unknown[] => [
  ...[name, title, url, description],
  // For a change request: the flags and segments that it changes.
  ...(Array.isArray(operations) ? operations.map(({ key }) => key) : []),
];

type Matches = (entry: SearchedEntry) => boolean;

export const createSearch = (
  { text, who, tag, owner }: HistorySearch,
  visible: Visible,
): Matches => {
  const statesOf = ({ subject, subjectId, before, after }: SearchedEntry): readonly State[] =>
    [
      visible.state(subject, before),
      visible.state(subject, after),
      subject === "flag" ? visible.flagNow(subjectId) : undefined,
    ].filter((state) => typeof state === "object" && state !== null) as State[];

  const contains = (
    part: string,
    textsOf: (entry: SearchedEntry) => readonly unknown[],
  ): Matches => {
    const folded = fold(part);
    return (entry) =>
      textsOf(entry).some((each) => stringsIn(each).some((whole) => fold(whole).includes(folded)));
  };
  const ofFlag = (member: "tags" | "owner") => (entry: SearchedEntry) =>
    entry.subject === "flag" ? statesOf(entry).map((state) => state[member]) : [];

  const parts: readonly Matches[] = [
    ...(who === undefined
      ? []
      : [
          contains(who, ({ actor }) => [
            ...[actorText(actor), actor.name, actor.keyId, actor.user?.name, actor.user?.id],
          ]),
        ]),
    ...(text === undefined
      ? []
      : [
          contains(text, (entry) => [
            ...[entry.subjectId, entry.reason],
            ...statesOf(entry).flatMap(namesOf),
          ]),
        ]),
    ...(tag === undefined ? [] : [contains(tag, ofFlag("tags"))]),
    ...(owner === undefined ? [] : [contains(owner, ofFlag("owner"))]),
  ];
  return (entry) => parts.every((matches) => matches(entry));
};
