// The pages of the documentation, and the code blocks in them in their order.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** What users read; decisions are records of their time. */
export const pages: readonly string[] = [
  "README.md",
  ...globSync("docs/**/*.md", { cwd: root }).filter((path) => !path.includes("decisions")),
].toSorted();

export interface Block {
  readonly language: string;
  /** Empty when it has none. */
  readonly title: string;
  readonly text: string;
  /** What stands between the block before and this one. */
  readonly before: string;
}

export const blocksIn = (text: string): readonly Block[] => {
  const blocks: Block[] = [];
  let end = 0;
  for (const match of text.matchAll(/^( *)```(\w*)(?: title="([^"]+)")?\n(.*?)^\1```$/gms)) {
    const [all, indent = "", language = "", title = "", body = ""] = match;
    const before = text.slice(end, match.index);
    end = match.index + all.length;
    // In a list a block is indented like its item.
    const dedented = body.replace(new RegExp(`^${indent}`, "gm"), "");
    blocks.push({ language, title, text: dedented, before });
  }
  return blocks;
};

export const blocksOf = (page: string): readonly Block[] => blocksIn(read(page));

/** The block of this page that has this title, and this language if both are needed. */
export const blockTitled = (page: string, title: string, language?: string): string => {
  const found = blocksOf(page).filter(
    (block) => block.title === title && (language ?? block.language) === block.language,
  );
  if (found.length !== 1) throw new Error(`${page} has ${found.length} blocks ${title}`);
  return found.map(({ text }) => text).join("");
};
