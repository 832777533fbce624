// History that proves itself: whoever changes, removes or rewrites entries is found.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chainAfter, digestOf, type ExportLine, genesis } from "@halyard/core/history/chain";
import { type Row, readEvents, writeRows } from "./support/database.ts";
import {
  entriesOf,
  exportHistory,
  hasPython,
  problemsOf,
  rowsOf,
  sha256,
  someChanges,
  verification,
  verifyInPython,
  verifyLines,
} from "./support/history-export.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";
import { onPostgres } from "./support/test-store.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** The same numbers at every run. */
const createRandom = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

const restoreRow = (row: Row): Promise<void> => {
  const columns = Object.keys(row);
  const identity = onPostgres ? "overriding system value" : "";
  return writeRows(
    server,
    `insert into history (${columns.map((column) => `"${column}"`).join(", ")}) ${identity}
     values (${columns.map(() => "?").join(", ")})`,
    ...columns.map((column) => row[column] ?? null),
  );
};

/** One character of a text, or one digit of a number: revisions are unique. */
const changed = (value: string | number, random: (below: number) => number): string | number => {
  if (typeof value === "number") return value + 1_000;
  const place = random(value.length);
  const code = value.charCodeAt(place);
  // Within ASCII, and never into half of a pair.
  const other = code > 0x7f ? 0x78 : code === 0x61 ? 0x62 : 0x61;
  return value.slice(0, place) + String.fromCharCode(other) + value.slice(place + 1);
};

const covered = [
  ...["revision", "subject", "subject_id", "version", "at", "actor_key_id", "actor_name"],
  ...["reason", "actions", "before", "after", "level", "digest", "chain"],
];

/** Every column twice. */
const changes = 2 * covered.length;
const removals = 4;

test(`${changes} single-byte changes and ${removals} removed rows: each is found, by the server, by the command's verifier and in Python`, async (context) => {
  const environment = await server.environment();
  await someChanges(environment.admin);
  const lines = await exportHistory(environment.admin);
  assert.equal(problemsOf(lines), 0);
  const rows = await rowsOf(server, environment.name);
  assert.equal(entriesOf(lines).length, rows.length);
  const random = createRandom(20_261_116);
  const tampered: ExportLine[][] = [];
  const touched = new Set<string>();
  for (let count = 0; count < changes; ) {
    const row = rows[random(rows.length)] as Row;
    // Each column in turn, where the row has something.
    const column = covered[count % covered.length] as string;
    const value = row[column];
    const isEmpty = value === null || value === "" || value instanceof Uint8Array;
    if (isEmpty && column !== "level") continue;
    count += 1;
    touched.add(column);
    const other = isEmpty ? 1 : changed(value as string | number, random);
    const set = `update history set "${column}" = ? where id = ?`;
    await writeRows(server, set, other, row.id as number);
    const found = await exportHistory(environment.admin);
    assert.ok(
      problemsOf(found) > 0,
      `${column} of ${String(row.id)}: ${String(value)} → ${String(other)}`,
    );
    tampered.push(found);
    await writeRows(server, set, (value as string | number | null) ?? null, row.id as number);
  }
  assert.deepEqual([...touched].sort(), [...covered].sort());
  for (let count = 0; count < removals; count += 1) {
    const row = (count === 0 ? rows.at(-1) : rows[random(rows.length)]) as Row;
    await writeRows(server, "delete from history where id = ?", row.id as number);
    const found = await exportHistory(environment.admin);
    assert.ok(problemsOf(found) > 0, `removed ${String(row.id)}`);
    tampered.push(found);
    if (count === removals - 1) {
      const { verified, problems } = await verification(environment);
      assert.equal(verified, false);
      assert.ok(problems.length > 0);
    }
    await restoreRow(row);
  }
  assert.equal(problemsOf(await exportHistory(environment.admin)), 0);
  assert.equal(tampered.length, changes + removals);
  if (!hasPython) return context.diagnostic("python3 is missing: its script was not run");
  const [whole, ...others] = verifyInPython([lines, ...tampered].map((each) => ({ lines: each })));
  assert.equal(whole, 0);
  assert.deepEqual(
    others.filter((count) => count === 0),
    [],
  );
});

/** Every entry and every hash as an intruder writes them, who forgets nothing. */
const rewrite = async ({ name, admin }: TestEnvironment): Promise<void> => {
  let chain = genesis;
  for (const entry of entriesOf(await exportHistory(admin))) {
    const actorName = entry.actorName.replace("admin", "nobody");
    const digest = digestOf({ ...entry, actorName }, sha256);
    chain = chainAfter(chain, digest, sha256);
    await writeRows(
      server,
      "update history set actor_name = ?, digest = ?, chain = ? where id = ?",
      ...[actorName, digest, chain, entry.id],
    );
  }
  await writeRows(server, "update environments set chain = ? where name = ?", chain, name);
};

test("a history that was rewritten whole is found by the head that a receiver kept", async () => {
  const environment = await server.environment();
  await someChanges(environment.admin, 3);
  const events = (await readEvents(server, environment.name)) as unknown as { chain: string }[];
  const kept = events.map(({ chain }) => chain);
  assert.ok(kept.length > 3 && kept.every((chain) => /^[0-9a-f]{64}$/.test(chain)));
  const [entry] = (await environment.admin("GET", "/flags/f2/history")).body as [{ chain: string }];
  assert.ok(kept.includes(entry.chain));
  const missing = async () => {
    const wanted = new Set(kept);
    const lines = await exportHistory(environment.admin);
    const { problemCount } = verifyLines(lines, { onChain: (chain) => wanted.delete(chain) });
    return { lines, problemCount, missing: wanted.size };
  };
  assert.partialDeepStrictEqual(await missing(), { problemCount: 0, missing: 0 });
  await rewrite(environment);
  const found = await missing();
  assert.equal(found.problemCount, 0, "the chain by itself is whole");
  assert.equal(found.missing, new Set(kept).size);
  if (hasPython) assert.notEqual(verifyInPython([{ lines: found.lines, kept }])[0], 0);
});

test("writers of everything at once leave a chain that verifies", async () => {
  const environment = await server.environment();
  const { admin, name } = environment;
  const owner = server.api(await environment.newKey("owner"));
  await someChanges(admin, 4);
  await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      const answers = await Promise.all([
        admin("PATCH", `/flags/f${index % 4}`, { description: `d${index}` }),
        admin("POST", "/keys", { name: `k${index}`, role: "client" }),
        index % 2 === 0 &&
          owner("POST", "/users", { name: `P${index}`, roles: { [name]: "editor" } }),
        index % 4 === 0 &&
          admin("POST", "/webhooks", { url: "https://example.com/", events: ["*"] }),
        index % 4 === 1 &&
          admin("POST", "/change-requests", {
            operations: [
              { kind: "flag", key: "f0", action: "patch", body: { description: `p${index}` } },
            ],
          }),
      ]);
      for (const answer of answers)
        assert.ok(!answer || answer.status < 300, JSON.stringify(answer));
    }),
  );
  const found = await verification(environment);
  assert.partialDeepStrictEqual(found, { verified: true });
  const events = (await readEvents(server, name)) as unknown as { chain: string }[];
  const chains = new Set((await rowsOf(server, name)).map(({ chain }) => chain));
  assert.deepEqual(
    events.filter(({ chain }) => !chains.has(chain)),
    [],
  );
});

test("an entry that Halyard has not written is reported, and no later change takes it into the chain", async () => {
  const environment = await server.environment();
  const { admin, name } = environment;
  await someChanges(admin, 1);
  await writeRows(
    server,
    `insert into history (environment_id, subject, subject_id, at, actor_name, actions)
     select id, 'key', 'strange', 1, 'strange', '[]' from environments where name = ?`,
    name,
  );
  assert.partialDeepStrictEqual(await verification(environment), {
    ...{ verified: false, unchained: 1, problemCount: 1 },
  });
  await admin("PATCH", "/flags/f0", { description: "after it" });
  assert.partialDeepStrictEqual(await verification(environment), {
    ...{ verified: false, unchained: 0, problemCount: 1 },
  });
});

test("those who do not see the addresses of webhooks can verify all the same", async () => {
  const environment = await server.environment();
  await someChanges(environment.admin, 2);
  const lines = await exportHistory(environment.server);
  assert.equal(problemsOf(lines), 0);
  assert.ok(!JSON.stringify(lines).includes("example.com/hook"));
});

test("the first line of an export warns that digests confirm a guess, and they do", async () => {
  const environment = await server.environment();
  const url = "https://hooks.example.com/hook-of-team-blue";
  const created = await environment.admin("POST", "/webhooks", { url, events: ["*"] });
  assert.equal(created.status, 201, created.text);
  const [first, ...lines] = await exportHistory(environment.server);
  assert.match(first?.type === "history" ? (first.notice ?? "") : "", /can confirm the guess/);
  const hidden = entriesOf(lines).find(({ subject }) => subject === "webhook");
  assert.equal(hidden?.after, null);
  const known = entriesOf(await exportHistory(environment.admin)).find(
    ({ id }) => id === hidden?.id,
  );
  const guess = (path: string) => known?.after?.replace(url, `https://hooks.example.com/${path}`);
  assert.equal(sha256(guess("hook-of-team-blue") ?? ""), hidden?.afterDigest);
  assert.notEqual(sha256(guess("hook-of-team-red") ?? ""), hidden?.afterDigest);
});
