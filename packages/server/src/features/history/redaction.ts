// Replaces a person's name and address in a history entry, as the law may ask for.
import { kindNames } from "@halyard/core/kinds";
import type { StoredEntry } from "../../writes/chained-entry.ts";

export interface RedactedPerson {
  /** Of their account; it stays in the entries. */
  readonly id: string | undefined;
  readonly names: readonly string[];
  readonly emails: readonly string[];
}

/** What stands in the place of a name or an address. */
export const redactedText = "redacted";

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Whole words only: "Al" is no part of "Alice". */
const patternOf = ({ names, emails }: RedactedPerson): RegExp | undefined => {
  const texts = [...emails, ...names].filter((text) => text !== "");
  if (texts.length === 0) return undefined;
  return new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${texts.map(escaped).join("|")})(?![\\p{L}\\p{N}])`,
    "giu",
  );
};

export type Redact = (entry: StoredEntry) => StoredEntry;

/** The same entry when it says nothing of the person. What flags and segments hold is left alone: it is what programs got. */
export const createRedact = (person: RedactedPerson): Redact => {
  const pattern = patternOf(person);
  const inText = (text: string): string => (pattern ? text.replace(pattern, redactedText) : text);

  const inValue = (value: unknown): unknown => {
    if (typeof value === "string") return inText(value);
    if (Array.isArray(value)) return value.map(inValue);
    if (value === null || typeof value !== "object") return value;
    const members = Object.entries(value).map(([name, member]) => [name, inValue(member)]);
    const isThem = person.id !== undefined && "id" in value && value.id === person.id;
    return {
      ...Object.fromEntries(members),
      ...(isThem && "name" in value && { name: redactedText }),
    };
  };
  const inJson = (json: string | null): string | null =>
    json === null ? null : JSON.stringify(inValue(JSON.parse(json)));

  return (entry) => {
    const isThem = person.id !== undefined && entry.actorUserId === person.id;
    const isKind = kindNames.some((kind) => kind === entry.subject);
    const redacted: StoredEntry = {
      ...entry,
      // A key has a name of its own.
      actorName: isThem && entry.actorKeyId === null ? redactedText : inText(entry.actorName),
      actorUserName:
        isThem && entry.actorUserName !== null
          ? redactedText
          : entry.actorUserName && inText(entry.actorUserName),
      reason: entry.reason && inText(entry.reason),
      review: inJson(entry.review),
      ...(!isKind && { before: inJson(entry.before), after: inJson(entry.after) }),
    };
    return JSON.stringify(redacted) === JSON.stringify(entry) ? entry : redacted;
  };
};
