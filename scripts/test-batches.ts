// Several short test files in one process: loading the server takes longer than most of them, and is done once for all.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const folder = join(import.meta.dirname, "../node_modules/.cache/halyard-test/batches");

interface Kind {
  readonly name: string;
  readonly filesInOne: number;
  readonly includes: (file: string) => boolean;
}

/** They wait long, change something of their process, or ask what it has loaded or costs. */
const alone =
  /postgres|kill|workers|stop|shutdown|load|cost|fuzz|model|scale|browser|published|receivers|journey|retries|next-tick|runs-anywhere|start\./;

const kinds: readonly Kind[] = [
  {
    name: "pages",
    // They share a browser too.
    filesInOne: 7,
    includes: (file) => /^packages\/dashboard\/test\/[^/]+$/.test(file) && !alone.test(file),
  },
  {
    name: "short",
    filesInOne: 16,
    includes: (file) =>
      /^packages\/(cli|server|sdk|mcp|core)\/test\/[^/]+$/.test(file) && !alone.test(file),
  },
];

const content = (files: readonly string[]): string =>
  `import { suite } from "node:test";\n${files
    .map((file) => {
      const url = JSON.stringify(pathToFileURL(resolve(file)).href);
      return `suite(${JSON.stringify(file)}, async () => {\n  await import(${url});\n});\n`;
    })
    .join("")}`;

const batchesOf = (
  files: readonly string[],
  store: string,
  { name, filesInOne, includes }: Kind,
): string[] => {
  const those = files.filter(includes);
  const count = Math.ceil(those.length / filesInOne);
  return Array.from({ length: count }, (_, index) => {
    const path = join(folder, `${store}-${name}-${index + 1}.test.mjs`);
    writeFileSync(path, content(those.filter((_, at) => at % count === index)));
    return path;
  });
};

/** The same tests in fewer files: first the batches, then the files that run alone. */
export const inBatches = (files: readonly string[], store: string): string[] => {
  mkdirSync(folder, { recursive: true });
  return [
    ...kinds.flatMap((kind) => batchesOf(files, store, kind)),
    ...files.filter((file) => !kinds.some((kind) => kind.includes(file))),
  ];
};
