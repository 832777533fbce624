// Instances that start at the same moment on an empty PostgreSQL database: one schema, one set of keys, printed once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runHalyard, serveOn } from "../../support/halyard-process.ts";
import { newDatabase, query } from "../../support/postgres.ts";
import { call } from "./client.ts";

export const testStart = ({ rounds }: { readonly rounds: number }): void => {
  const HALYARD_SECRET_KEY = "07".repeat(32);

  for (let round = 1; round <= rounds; round += 1) {
    test(`two processes on an empty database (${round})`, async (t) => {
      const DATABASE_URL = await newDatabase();
      const settings = { DATABASE_URL, HALYARD_SECRET_KEY, HALYARD_LOG_LEVEL: "warn" };
      const servers = await Promise.all([serveOn(settings), serveOn(settings)]);
      t.after(async () => {
        for (const server of servers) server.kill("SIGKILL");
        await Promise.all(servers.map(({ ended }) => ended));
      });
      const printed = servers.filter(({ keys }) => Object.keys(keys).length > 0);
      assert.equal(printed.length, 1, "one of them prints keys");
      const keys = printed[0]?.keys ?? {};
      assert.deepEqual(Object.keys(keys).sort(), ["development", "production"]);
      for (const server of servers) {
        for (const key of Object.values(keys)) {
          const { status } = await call({ url: server.url, key }, "GET", "/flags");
          assert.equal(status, 200, "they open both instances");
        }
      }
      const [counts] = await query<{ environments: number; keys: number; versions: number }>(
        DATABASE_URL,
        `select (select count(*) from environments) as environments,
         (select count(*) from api_keys) as keys, (select count(*) from schema_version) as versions`,
      );
      assert.deepEqual({ ...counts }, { environments: 2, keys: 2, versions: 1 });
      for (const server of servers) server.kill("SIGTERM");
      for (const { code, stderr } of await Promise.all(servers.map(({ ended }) => ended))) {
        assert.deepEqual([code, stderr], [0, ""]);
      }
    });
  }

  test("what keeps it from starting is one sentence without the password", async () => {
    const good = await newDatabase();
    const change = (edit: (url: URL) => void) => {
      const url = new URL(good);
      url.password = "hush";
      edit(url);
      return url.href;
    };
    const right = new URL(good).password;
    const problems: [url: string, message: RegExp, code?: number][] = [
      [change(() => {}), /rejects the user or the password/],
      [
        change((url) => {
          url.password = right;
          url.pathname = "/hushed";
        }),
        /has no such database \(database "hushed" does not exist\)/,
      ],
      [
        change((url) => {
          url.port = "1";
        }),
        /PostgreSQL at 127\.0\.0\.1:1\/\S+ cannot be used: connect ECONNREFUSED/,
        6,
      ],
    ];
    for (const [DATABASE_URL, message, code = 1] of problems) {
      const ended = await runHalyard(["serve"], { DATABASE_URL, HALYARD_SECRET_KEY, PORT: "0" });
      assert.equal(ended.code, code);
      assert.match(ended.stderr, message);
      assert.equal(ended.stderr.trim().split("\n").length, 1, ended.stderr);
      assert.doesNotMatch(ended.stdout + ended.stderr, /hush\b|:password@/);
    }
    const command = ["environments", "list"];
    const empty = await runHalyard(command, { DATABASE_URL: good, HALYARD_SECRET_KEY });
    assert.equal(empty.code, 3);
    assert.match(empty.stderr, /database 127\.0\.0\.1:\d+\/halyard-test\S+ has no Halyard tables/);
  });

  test("the operator's commands work beside a server on PostgreSQL", async (t) => {
    const DATABASE_URL = await newDatabase();
    const settings = { DATABASE_URL, HALYARD_SECRET_KEY, HALYARD_LOG_LEVEL: "warn" };
    const server = await serveOn(settings);
    t.after(async () => {
      server.kill("SIGTERM");
      await server.ended;
    });
    const made = await runHalyard(["environments", "create", "staging"], settings);
    assert.equal(made.code, 0, made.stderr);
    const words = ["keys", "create", "--environment", "staging", "--role", "admin", "--name", "me"];
    const issued = await runHalyard([...words, "--json"], settings);
    assert.equal(issued.code, 0, issued.stderr);
    const { key } = JSON.parse(issued.stdout) as { key: string };
    assert.equal((await call({ url: server.url, key }, "GET", "/flags")).status, 200);
  });
};
