// A reader who follows a page: a folder, a running server, and the page's commands in their order.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { commandFile, compileCache } from "../../packages/server/test/support/halyard-process.ts";
import { assertPrinted, pairIds } from "./compare-output.ts";
import { type Block, blocksOf, root } from "./pages.ts";

export type Steps = Readonly<Record<string, (session: Session) => Promise<void>>>;

export interface Place {
  /** The server, and the folder of its store. */
  readonly url: string;
  readonly data: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  /** Texts of the page that stand for something else here. */
  readonly instead?: Readonly<Record<string, string>>;
  /** What happens before the commands of transcripts that begin so. */
  readonly before?: Steps;
}

export interface Session {
  /** What it prints, on both outputs, in the words of the page. */
  run(command: string): Promise<string>;
}

const address = "http://127.0.0.1:4400";

export const openSession = (
  context: TestContext,
  place: Place,
): Session & {
  /** Runs a block and compares what it prints; `next` shows it, when it follows at once. */
  follow(block: Block, next: Block | undefined): Promise<void>;
} => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-page-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const bin = join(folder, ".bin");
  const files = {
    "package.json": '{"type":"module"}',
    ".bin/halyard": `#!/bin/sh\nexec "${process.execPath}" "${commandFile}" "$@"\n`,
    ".bin/npx": '#!/bin/sh\nexec "$@"\n',
    ...place.files,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  for (const name of ["halyard", "npx"]) chmodSync(join(bin, name), 0o755);
  symlinkSync(place.data, join(folder, "data"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));

  const { host, port } = new URL(place.url);
  const instead = new Map(Object.entries(place.instead ?? {}));
  const env = {
    PATH: [bin, dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: folder,
    NODE_COMPILE_CACHE: compileCache,
    PORT: port,
    ...place.variables,
  };

  const here = (text: string): string => {
    const replaced = text
      .replaceAll("127.0.0.1:4400", host)
      .replace(/^export HALYARD_API_KEY=hal_….*\n/gm, "");
    return [...instead].reduce((result, [page, real]) => result.replaceAll(page, real), replaced);
  };
  const asOnPage = (text: string): string =>
    [...instead]
      .reduce((result, [page, real]) => result.replaceAll(real, page), text)
      .replaceAll(place.url, address)
      .replaceAll(host, "127.0.0.1:4400")
      .replaceAll(`Port ${port} `, "Port 4400 ")
      .replaceAll(folder, "/srv/flags");

  const execute = (script: string): Promise<{ code: number; output: string }> =>
    new Promise((resolve) => {
      const options = { cwd: folder, env, timeout: 600_000 };
      execFile("bash", ["-c", `exec 2>&1\n${script}`], options, (error, stdout) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, output: asOnPage(stdout) }),
      );
    });

  const run = async (command: string): Promise<string> => (await execute(here(command))).output;

  const learnIds = (shown: string, printed: string): void => {
    for (const [page, real] of pairIds(shown, printed)) if (page !== real) instead.set(page, real);
  };

  const happens = async (command: string): Promise<void> => {
    const [, step] =
      Object.entries(place.before ?? {}).find(([start]) => command.startsWith(start)) ?? [];
    await step?.({ run });
  };

  /** A transcript: each line after `$ ` is a command, what follows is its output. */
  const followTranscript = async (text: string): Promise<void> => {
    for (const part of text.split(/^\$ /m).slice(1)) {
      const [command = "", ...lines] = part.split("\n");
      await happens(command);
      const printed = await run(command);
      const shown = lines.join("\n");
      assertPrinted(printed, { shown, isJson: false, what: command });
      learnIds(shown, printed);
    }
  };

  const followCommands = async ({ text, before }: Block, next: Block | undefined) => {
    const status = /\b(?:answers|returns)\s+\*\*(\d{3})\*\*/.exec(before)?.[1];
    const withStatus = text.replace("curl -s ", "curl -s -w '\\n%{http_code}' ");
    const script = status === undefined ? text : withStatus;
    const { code, output } = await execute(`set -e\n${here(script)}`);
    assert.equal(code, 0, `${text}\n${output}`);
    const lines = output.trimEnd().split("\n");
    if (status !== undefined) assert.equal(lines.pop(), status, text);
    const isShown = next?.before.trim() === "" && ["json", "text"].includes(next.language);
    if (!next || !isShown) return;
    const isJson = next.language === "json";
    const printed = lines.join("\n");
    assertPrinted(printed, { shown: next.text, isJson, what: text });
    learnIds(next.text, printed);
  };

  return {
    run,
    follow: (block, next) =>
      block.language === "console" ? followTranscript(block.text) : followCommands(block, next),
  };
};

/** The blocks of a page that are commands, each with the one after it. */
export const commandsOf = (page: string): readonly (readonly [Block, Block | undefined])[] => {
  const blocks = blocksOf(page);
  return blocks
    .map((block, index) => [block, blocks[index + 1]] as const)
    .filter(([{ language }]) => language === "sh" || language === "console");
};
