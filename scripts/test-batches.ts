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

/** They change something of their process, or ask what it has loaded or costs. */
const alone = /browser|cost|failed-start|faults\/postgres|load\.|loading|model|runs-anywhere|scale/;
/** They mostly wait, for processes, leases and time limits. */
const waits =
  /\/faults\/|fuzz|journey|kill|postgres|published|receivers|retries|shutdown|start\.|stop|workers/;

const kinds: readonly Kind[] = [
  {
    name: "waiting",
    filesInOne: 7,
    includes: (file) => /^packages\/(cli|server|sdk)\/test\//.test(file) && waits.test(file),
  },
  {
    name: "pages",
    // They share a browser too.
    filesInOne: 13,
    includes: (file) => /^packages\/dashboard\/test\/[^/]+$/.test(file),
  },
  {
    name: "short",
    filesInOne: 36,
    includes: (file) =>
      /^packages\/(cli|server|sdk|mcp|core)\/test\/[^/]+$/.test(file) && !waits.test(file),
  },
  {
    name: "project",
    filesInOne: 6,
    includes: (file) => /^test\//.test(file),
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
  const those = files.filter((file) => includes(file) && !alone.test(file));
  const count = Math.ceil(those.length / filesInOne);
  return Array.from({ length: count }, (_, index) => {
    const path = join(folder, `${store}-${name}-${index + 1}.test.mjs`);
    writeFileSync(path, content(those.filter((_, at) => at % count === index)));
    return path;
  });
};

/** They wait longest, and would leave the machine idle at the end. */
const first = /faults\/postgres/;

/**
 * The same tests in fewer files: those that wait longest, then a batch of each kind in turn, so that some wait while others
 * work, then the short ones that run alone.
 */
export const inBatches = (files: readonly string[], store: string): string[] => {
  mkdirSync(folder, { recursive: true });
  const batches = kinds.map((kind) => batchesOf(files, store, kind));
  const turns = Math.max(...batches.map(({ length }) => length));
  const single = files.filter(
    (file) => alone.test(file) || !kinds.some(({ includes }) => includes(file)),
  );
  return [
    ...single.filter((file) => first.test(file)),
    ...Array.from({ length: turns }, (_, turn) =>
      batches.flatMap((each) => each.slice(turn, turn + 1)),
    ).flat(),
    ...single.filter((file) => !first.test(file)),
  ];
};
