// Reads values of unknown shape, as other programs write them.

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Empty when it is anything else. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** What was written: texts as they are, numbers and the rest as JSON has them; nothing is empty. */
export const writtenAs = (value: unknown): string => {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
};

export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value : undefined;
