// halyard history verify, export and redact: the command itself verifies the downloaded history.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readEvents, writeRows } from "../../server/test/support/database.ts";
import { storeSettings } from "../../server/test/support/test-store.ts";
import { createRunner } from "./support/command-runner.ts";
import { commandSuite } from "./support/command-suite.ts";

const suite = commandSuite();
const folder = mkdtempSync(join(tmpdir(), "halyard-history-"));
after(() => rmSync(folder, { recursive: true }));

test("a history is verified on a server, from a file and against kept events; verify and doctor detect a modified database", async () => {
  const { environment, server, halyard, settings } = suite;
  const { admin, name } = environment;
  await admin("POST", "/flags", { key: "a", type: "boolean", description: "\u2028" });
  await admin("PATCH", "/flags/a?reason=for%20Ada%20Lovelace", { enabled: true });
  const whole = await halyard.run("history", "verify");
  assert.equal(whole.code, 0, whole.stderr);
  assert.match(whole.stdout, /History verified\. No problems found\.\n$/);
  const file = join(folder, "history.jsonl");
  const exported = await halyard.run("history", "export", "--output", file);
  assert.equal(exported.code, 0, exported.stderr);
  const events = (await readEvents(server, name)) as unknown as { chain: string }[];
  const kept = join(folder, "events.jsonl");
  writeFileSync(kept, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  const compared = await halyard.run("history", "verify", "--file", file, "--events", kept);
  assert.equal(compared.code, 0, compared.stderr);
  assert.match(compared.stdout, new RegExp(`Head: ${events.at(-1)?.chain}`));
  const other = await halyard.run("history", "verify", "--head", "f".repeat(64));
  assert.equal(other.code, 1);
  assert.match(other.stdout, /is not in the history: it was rewritten/);

  const redacting = createRunner({
    ...settings,
    ...(await storeSettings(server.folder)),
    HALYARD_URL: "",
  });
  const redacted = await redacting.run("history", "redact", "--name", "Ada Lovelace", "--yes");
  assert.equal(redacted.code, 0, redacted.stderr);
  assert.match(
    redacted.stdout,
    new RegExp(`${name}: names redacted in 1 entries in the database `),
  );
  const after = await halyard.run("history", "verify");
  assert.equal(after.code, 0, after.stdout);
  const healthy = await redacting.run("doctor");
  assert.match(healthy.stdout, /OK {3}history: \d+ entries, chained without gaps/);

  await writeRows(server, "update history set actor_name = 'other' where subject_id = 'a'");
  const broken = await halyard.run("history", "verify");
  assert.equal(broken.code, 1);
  assert.match(broken.stdout, /FAIL {2}entry \d+ \(flag a v1\) was changed/);
  const sick = await redacting.run("doctor");
  assert.match(sick.stdout, new RegExp(`FAIL history: the history of ${name} is not valid`));
});
