// Exports a history as an auditor does, and verifies it: by the verifier of the command line, and by the script in Python.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExportedEntry, ExportLine } from "@halyard/core/history/chain";
import {
  createHistoryVerifier,
  type HistoryVerification,
  type VerifierOptions,
} from "@halyard/core/history/verify";
import type { Api } from "./api.ts";
import { type Row, readRows } from "./database.ts";
import type { TestEnvironment, TestServer } from "./server.ts";

export const sha256 = (text: string): string => hash("sha256", text, "hex");

export const exportHistory = async (api: Api): Promise<ExportLine[]> => {
  const lines: ExportLine[] = [];
  for (let path: string | undefined = "/history/export"; path !== undefined; ) {
    const { status, text, headers } = await api("GET", path);
    assert.equal(status, 200, text);
    lines.push(
      ...text.split("\n").flatMap((line) => (line ? (JSON.parse(line) as ExportLine) : [])),
    );
    path = /<\/api\/v1([^>]*)>/.exec(headers.get("link") ?? "")?.[1];
  }
  return lines;
};

export const entriesOf = (lines: readonly ExportLine[]): ExportedEntry[] =>
  lines.filter((line) => line.type === "entry");

export const verifyLines = (
  lines: readonly ExportLine[],
  options?: VerifierOptions,
): HistoryVerification => {
  const verifier = createHistoryVerifier(sha256, options);
  for (const line of lines) verifier.add(line);
  return verifier.end();
};

const script = join(import.meta.dirname, "../../../../conformance/verify-history.py");

/** Many exports in one process: prints the number of problems of each. */
const harness = `
import base64, importlib.util, json, os, sys
spec = importlib.util.spec_from_file_location("verify_history", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
key = base64.b64decode(sys.argv[3]) if sys.argv[3] else None
for export in json.load(open(sys.argv[2], encoding="utf-8")):
    verifier = module.Verifier(key)
    for line in export["lines"]:
        verifier.add(line)
    verifier.end()
    for chain in export.get("kept", []):
        verifier.compare("kept", chain, None)
    print(len(verifier.problems))
`;

export const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** How many problems the script finds in each. */
export const verifyInPython = (
  exports: readonly { readonly lines: readonly ExportLine[]; readonly kept?: readonly string[] }[],
  secretKey = "",
): number[] => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-history-"));
  const file = join(folder, "exports.json");
  writeFileSync(file, JSON.stringify(exports));
  const ended = spawnSync("python3", ["-c", harness, script, file, secretKey], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  rmSync(folder, { recursive: true });
  assert.equal(ended.status, 0, ended.stderr);
  return ended.stdout.trim().split("\n").map(Number);
};

export const someChanges = async (admin: Api, flags = 12): Promise<void> => {
  for (let index = 0; index < flags; index += 1) {
    await admin("POST", "/flags", { key: `f${index}`, type: "boolean", description: 'ä\u0007"' });
    const reason = encodeURIComponent(`why ${index} – \u{1F600}`);
    await admin("PATCH", `/flags/f${index}?reason=${reason}`, { enabled: true });
  }
  await admin("POST", "/segments", { key: "s", include: ["user-1"] });
  await admin("POST", "/webhooks", { url: "https://example.com/hook", events: ["*"] });
  await admin("POST", "/keys", { name: "web", role: "client" });
};

export const problemsOf = (lines: readonly ExportLine[]): number => verifyLines(lines).problemCount;

export const verification = async ({ admin }: TestEnvironment) =>
  (await admin("GET", "/history/verification")).body as {
    verified: boolean;
    head: string;
    entries: number;
    pruned: number;
    redacted: number[];
    problems: { message: string }[];
  };

export const rowsOf = (server: TestServer, name: string): Promise<Row[]> =>
  readRows(
    server,
    `select history.* from history join environments on environments.id = environment_id
     where environments.name = ? order by history.id`,
    name,
  );
