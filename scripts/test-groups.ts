// Puts test files into shared processes: loading the server takes longer than most of them.
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseTestName, type Store } from "./test-files.ts";

const folder = join(import.meta.dirname, "../node_modules/.cache/halyard-test/groups");

/** They count timers of their process, check which modules it has loaded, or change its environment. */
const needsOwnProcess = new Set([
  "failed-start.test.ts",
  "outage.postgres.test.ts",
  "runs-anywhere.test.ts",
]);

/** The store is chosen before anything that opens one is loaded. */
const write = (name: string, store: Store, files: readonly string[]): string => {
  const suites = files.map((file) => {
    const url = JSON.stringify(pathToFileURL(resolve(file)).href);
    return `suite(${JSON.stringify(`${file}, ${store}`)}, () => import(${url}));\n`;
  });
  const path = join(folder, `${name}-on-${store}.test.mjs`);
  writeFileSync(
    path,
    `import { suite } from "node:test";\nprocess.env.HALYARD_TEST_STORE = "${store}";\n${suites.join("")}`,
  );
  return path;
};

const deal = (files: readonly string[], size: number): string[][] => {
  const count = Math.ceil(files.length / size);
  return Array.from({ length: count }, (_, index) => files.filter((_, at) => at % count === index));
};

/** A process for each file on each of its stores. */
export const eachAlone = (files: readonly string[]): string[] => {
  mkdirSync(folder, { recursive: true });
  return files.flatMap((file) => {
    const name = file.replaceAll("/", "-").replace(/\.test\.ts$/, "");
    return parseTestName(file).stores.map((store) => write(name, store, [file]));
  });
};

/** Fewer processes, each with files that mostly compute and files that mostly wait. */
export const inGroups = (files: readonly string[]): string[] => {
  const single = files.filter((file) => needsOwnProcess.has(basename(file)));
  const shared = files.filter((file) => !single.includes(file));
  const isOfPage = (file: string): boolean => file.startsWith("packages/dashboard/test/");
  const on = (store: Store): string[] =>
    shared.filter((file) => parseTestName(file).stores.includes(store));
  mkdirSync(folder, { recursive: true });
  const kinds = [
    deal(on("postgres"), 14).map((each, at) => write(`shared-${at + 1}`, "postgres", each)),
    // They share a browser too.
    deal(on("sqlite").filter(isOfPage), 13).map((each, at) =>
      write(`pages-${at + 1}`, "sqlite", each),
    ),
    deal(
      on("sqlite").filter((file) => !isOfPage(file)),
      14,
    ).map((each, at) => write(`shared-${at + 1}`, "sqlite", each)),
  ];
  const turns = Math.max(...kinds.map(({ length }) => length));
  const inTurn = Array.from({ length: turns }, (_, turn) =>
    kinds.flatMap((each) => each.slice(turn, turn + 1)),
  );
  return [...eachAlone(single), ...inTurn.flat()];
};
