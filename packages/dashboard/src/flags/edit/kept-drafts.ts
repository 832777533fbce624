// What a person has typed and not saved, as the browser keeps it for the tab.

/** The first word says of what it is, so that no key of another kind makes the same name. */
export const draftsOfFlag = (key: string): string => `flag ${key} `;
export const newFlagDraft = (key: string): string => `new flag ${key}`;

/** No name of an environment has a space. */
export const storageKeyOf = (environment: string, name: string): string =>
  `halyard-draft ${environment} ${name}`;

/** The storage keys of the drafts whose names begin with this, which ends a word. */
export const keptDrafts = (environment: string, beginning: string): readonly string[] =>
  Object.keys(sessionStorage)
    .filter((key) => `${key} `.startsWith(storageKeyOf(environment, beginning)))
    .sort();

const kinds: Readonly<Record<string, string>> = { flags: "flag", segments: "segment" };

/** Those that the page at this path edits, such as `/flags/checkout`. */
export const draftsAt = (environment: string, path: string): readonly string[] => {
  const [, list = "", key] = path.split("/");
  const kind = kinds[list];
  if (kind === undefined) return [];
  return keptDrafts(environment, key === undefined ? `new ${kind} ` : `${kind} ${key} `);
};
