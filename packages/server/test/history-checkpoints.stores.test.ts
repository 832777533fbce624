// Checkpoints of history: entries can be deleted and redacted, and the chain still verifies.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parseConfig } from "@halyard/server";
import { redactHistory } from "../src/features/history/redact.ts";
import { openStore } from "../src/operator/operator.ts";
import { createPrune } from "../src/server/retention.ts";
import { readRows, writeRows } from "./support/database.ts";
import {
  exportHistory,
  hasPython,
  problemsOf,
  rowsOf,
  someChanges,
  verification,
  verifyInPython,
} from "./support/history-export.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { storeSettings } from "./support/test-store.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const withStore = async <T>(
  work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<T>,
): Promise<T> => {
  const store = await openStore(parseConfig(await storeSettings(server.folder)));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
};

const secretKey = async (): Promise<string> =>
  (await storeSettings(server.folder)).HALYARD_SECRET_KEY ??
  readFileSync(join(server.folder, "secret.key"), "utf8").trim();

test("pruning leaves a chain that verifies; a forged checkpoint and one entry too few are found", async () => {
  const environment = await server.environment();
  const { admin, name } = environment;
  await someChanges(admin, 6);
  const before = await rowsOf(server, name);
  const prune = (days: number) =>
    withStore(async (store) => {
      const now = Date.now() + days * 86_400_000;
      const prune = createPrune(store);
      while (await prune({ now, eventsBefore: 0, historyBefore: now }));
    });
  await prune(1);
  const left = await rowsOf(server, name);
  assert.ok(left.length < before.length && left.length >= 7, `${left.length}`);
  const found = await verification(environment);
  assert.partialDeepStrictEqual(found, {
    ...{ verified: true, entries: left.length, pruned: before.length - left.length },
    head: before.at(-1)?.chain,
  });
  // Further changes, and another time through: checkpoints beside each other become one.
  await admin("PATCH", "/flags/f0", { enabled: false });
  await admin("PATCH", "/flags/f3", { enabled: false });
  await prune(2);
  assert.partialDeepStrictEqual(await verification(environment), { verified: true });
  const lines = await exportHistory(admin);
  const types = lines.map(({ type }) => type).join(" ");
  assert.match(types, /checkpoint entry/);
  assert.doesNotMatch(types, /checkpoint checkpoint/);
  if (hasPython) assert.deepEqual(verifyInPython([{ lines }], await secretKey()), [0]);

  const [checkpoint] = await readRows(
    server,
    `select history_checkpoints.* from history_checkpoints
     join environments on environments.id = environment_id where name = ? order by entry_id`,
    name,
  );
  const text = String(checkpoint?.statement);
  const forged = text.replace(/"entries":\d+/, '"entries":1000');
  const set = "update history_checkpoints set statement = ? where id = ?";
  await writeRows(server, set, forged, checkpoint?.id as number);
  await admin("PATCH", "/flags/f1", { enabled: false });
  const broken = await verification(environment);
  assert.equal(broken.verified, false);
  assert.match(broken.problems[0]?.message ?? "", /checkpoint .* is not signed/);
  if (hasPython) {
    const tampered = await exportHistory(admin);
    assert.ok((verifyInPython([{ lines: tampered }], await secretKey())[0] ?? 0) > 0);
  }
  // Whoever prunes does not sign what somebody else has put there.
  await prune(3);
  await admin("PATCH", "/flags/f1", { enabled: true });
  assert.equal((await verification(environment)).verified, false);
  await writeRows(server, set, text, checkpoint?.id as number);
  // Nor does it help to name a key that nobody has.
  const setKey = "update history_checkpoints set key_id = ? where id = ?";
  await writeRows(server, setKey, "00000000", checkpoint?.id as number);
  await admin("PATCH", "/flags/f1", { enabled: false });
  const unknown = await verification(environment);
  assert.match(unknown.problems[0]?.message ?? "", /checkpoint .* is not signed/);
  if (hasPython) {
    const tampered = await exportHistory(admin);
    assert.ok((verifyInPython([{ lines: tampered }], await secretKey())[0] ?? 0) > 0);
  }
  await writeRows(server, setKey, String(checkpoint?.key_id), checkpoint?.id as number);
  await admin("PATCH", "/flags/f1", { enabled: true });
  assert.partialDeepStrictEqual(await verification(environment), { verified: true });
  // An entry is removed, and the one right after it is pruned: the break stays.
  const rows = await rowsOf(server, name);
  const at = rows.findIndex(({ id }, index) => {
    const following = rows[index + 1];
    return following?.subject === "flag" && following.id === Number(id) + 1;
  });
  const [removed, next] = [rows[at], rows[at + 1]];
  await writeRows(server, "delete from history where id = ?", removed?.id as number);
  await admin("PATCH", `/flags/${String(next?.subject_id)}`, { description: "later" });
  await prune(4);
  assert.ok(!(await rowsOf(server, name)).some(({ id }) => id === next?.id));
  assert.equal((await verification(environment)).verified, false, "a removed entry stays found");
});

test("an entry whose time was set back is pruned, and its change stays found", async () => {
  const environment = await server.environment();
  const { admin, name } = environment;
  await someChanges(admin, 2);
  const [hidden] = await rowsOf(server, name);
  await writeRows(server, "update history set at = 1000 where id = ?", hidden?.id as number);
  await withStore(async (store) => {
    const now = Date.now();
    const prune = createPrune(store);
    while (await prune({ now, eventsBefore: 0, historyBefore: 2_000 }));
  });
  assert.ok(!(await rowsOf(server, name)).some(({ id }) => id === hidden?.id));
  assert.equal((await verification(environment)).verified, false);
});

test("redaction replaces a person in the entries; the chain verifies, and another change is found", async () => {
  const environment = await server.environment();
  const { admin, name } = environment;
  const reason = encodeURIComponent("asked by Ada Lovelace (ada@example.com)");
  await admin("POST", `/flags?reason=${reason}`, { key: "a", type: "boolean" });
  await admin("POST", "/flags", { key: "b", type: "boolean", description: "for Ada Lovelace" });
  const heads = (await rowsOf(server, name)).map(({ chain }) => chain);
  const redact = async (names: readonly string[], emails: readonly string[] = []) => {
    const person = { id: undefined, names, emails };
    const results = await withStore((store) => redactHistory(store, person, new Date()));
    return results.find((each) => each.environment === name);
  };
  const one = await redact(["Ada Lovelace"]);
  assert.equal(one?.redacted.length, 1);
  // What a checkpoint allows may be redacted further.
  assert.deepEqual(await redact([], ["ada@example.com"]), one);
  const [latest, , b, a] = (await admin("GET", "/history?limit=4")).body as [
    ...{ reason?: string; actions: string[]; after: { description?: string } }[],
  ];
  assert.deepEqual(latest?.actions, ["environment.history_redacted"]);
  assert.equal(a?.reason, "asked by redacted (redacted)");
  assert.equal(b?.after.description, "for Ada Lovelace", "what programs got is left alone");
  const rows = await rowsOf(server, name);
  assert.deepEqual(
    rows.slice(0, heads.length).map(({ chain }) => chain),
    heads,
  );
  assert.partialDeepStrictEqual(await verification(environment), {
    ...{ verified: true, redacted: one?.redacted },
  });
  const lines = await exportHistory(admin);
  if (hasPython) assert.deepEqual(verifyInPython([{ lines }], await secretKey()), [0]);
  await writeRows(
    server,
    "update history set reason = 'asked by Eve' where id = ?",
    one?.redacted[0] as number,
  );
  assert.ok(problemsOf(await exportHistory(admin)) > 0);
  // To redact it would sign what somebody else has written.
  assert.partialDeepStrictEqual(await redact(["Eve"]), { redacted: [], refused: one?.redacted });
  assert.ok(problemsOf(await exportHistory(admin)) > 0);
});
