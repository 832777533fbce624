// What the name of a test file says: x[.stores|.postgres][.long|.faults|.load|.languages].test.ts.
import { globSync } from "node:fs";
import { basename } from "node:path";

export type Store = "sqlite" | "postgres";

const storesOf: Readonly<Record<string, readonly Store[]>> = {
  "": ["sqlite"],
  stores: ["sqlite", "postgres"],
  postgres: ["postgres"],
};

/** Each has a command of its own, such as `npm run test:long`; the empty one is `npm test`. */
const kinds = ["", "long", "faults", "load", "languages"];

export const isKind = (text: string): boolean => kinds.includes(text);

export const parseTestName = (
  file: string,
): { readonly stores: readonly Store[]; readonly kind: string } => {
  const match = /^[^.]+(?:\.(stores|postgres))?(?:\.(\w+))?\.test\.ts$/.exec(basename(file));
  const [, name = "", kind = ""] = match ?? [];
  const stores = storesOf[name];
  if (!match || !isKind(kind) || stores === undefined) {
    throw new Error(`${file} isn't named like a test file: CONTRIBUTING.md explains the names.`);
  }
  return { stores, kind };
};

export const findTests = (kind: string): string[] =>
  globSync("{packages/*/test,test}/**/*.test.ts")
    .filter((file) => parseTestName(file).kind === kind)
    .sort();
