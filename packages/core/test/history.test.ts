// The export in conformance/ is valid, and every change of a covered field is detected.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { ExportedEntry, ExportLine, Statement } from "../src/history/chain.ts";
import { createHistoryVerifier } from "../src/history/verify.ts";

const file = new URL("../../../conformance/history.jsonl", import.meta.url);
const lines = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as ExportLine);

const verify = (those: readonly ExportLine[]) => {
  const verifier = createHistoryVerifier((text) => hash("sha256", text, "hex"));
  for (const line of those) verifier.add(line);
  return verifier.end();
};

test("the export in conformance/ is valid, including deleted and redacted entries", () => {
  const { problems, pruned, redacted, entries, uncheckedSignatures } = verify(lines);
  assert.deepEqual(problems, []);
  assert.deepEqual([pruned, redacted.length, uncheckedSignatures], [3, 1, 2]);
  assert.equal(entries, lines.filter(({ type }) => type === "entry").length);
});

test("every field of every entry is covered, except its number", () => {
  for (const [index, line] of lines.entries()) {
    if (line.type !== "entry") continue;
    const covered = Object.keys(line).filter(
      (name) => !["id", "type", "environment"].includes(name),
    );
    for (const name of covered) {
      const value = line[name as keyof ExportedEntry];
      const other = typeof value === "string" ? `${value}x` : Number(value ?? 0) + 1;
      const changed = { ...line, [name]: other } as ExportedEntry;
      assert.ok(verify(lines.with(index, changed)).problemCount > 0, `${name} of ${line.id}`);
    }
    assert.ok(verify(lines.toSpliced(index, 1)).problemCount > 0, `removed ${line.id}`);
  }
});

test("a checkpoint is valid only for its place in the chain, its entry and its environment", () => {
  for (const [index, line] of lines.entries()) {
    if (line.type !== "checkpoint") continue;
    const statement = JSON.parse(line.statement) as Statement;
    const bound =
      statement.kind === "pruned" ? ["from", "to"] : (["chain", "digest", "content"] as const);
    for (const name of [...bound, "kind", "environment"]) {
      const other = { ...statement, [name]: "f".repeat(64) };
      const changed: ExportLine = { ...line, statement: JSON.stringify(other) };
      assert.ok(verify(lines.with(index, changed)).problemCount > 0, `${name} of ${line.id}`);
    }
    assert.ok(verify(lines.toSpliced(index, 1)).problemCount > 0, `removed ${line.id}`);
  }
});
