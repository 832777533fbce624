// The first keys: made at the first start, or chosen by the operator.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { parseConfig } from "@halyard/server";
import type { Api } from "./support/api.ts";
import { newFolder, startTestServer, type TestServer } from "./support/server.ts";

interface Key {
  readonly id: string;
  readonly name: string;
  readonly role: string;
}

const list = async (admin: Api): Promise<Key[]> => (await admin("GET", "/keys")).body as Key[];

/** Starts servers one after the other on a folder of their own. */
const starts = (t: TestContext) => {
  const folder = newFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return async (
    settings: Readonly<Record<string, string>>,
    work: (at: TestServer) => Promise<void>,
  ) => {
    const started = await startTestServer({ ...settings, HALYARD_DATA: folder });
    try {
      await work(started);
    } finally {
      await started.close();
    }
  };
};

const status = async (at: TestServer, key: string): Promise<number> =>
  (await at.api(key)("GET", "/keys")).status;

test("the first start makes development and production with a working admin key each, later ones none", async (t) => {
  const start = starts(t);
  let texts: string[] = [];
  await start({}, async (at) => {
    assert.deepEqual(
      at.firstKeys.map(({ environment }) => environment),
      ["development", "production"],
    );
    texts = at.firstKeys.map(({ text }) => text);
    const [development, production] = texts.map((text) => at.api(text));
    assert.ok(development && production);
    assert.equal((await development("POST", "/flags", { key: "a", type: "boolean" })).status, 201);
    assert.deepEqual((await production("GET", "/flags")).body, []);
    for (const api of [development, production]) {
      assert.deepEqual(
        (await list(api)).map(({ role }) => role),
        ["admin"],
      );
    }
  });
  await start({}, async (at) => {
    assert.deepEqual(at.firstKeys, []);
    for (const text of texts) assert.equal(await status(at, text), 200);
  });
});

test("HALYARD_BOOTSTRAP_KEYS fixes keys, makes missing environments, and may be stated again", async (t) => {
  const start = starts(t);
  const strange = "0=1,Two,Three=Four,,=!~\"'$%&";
  const staging = "staging-key-of-twenty-1";
  const HALYARD_BOOTSTRAP_KEYS = `development=${strange},staging=${staging}`;
  for (const made of [["production"], []]) {
    await start({ HALYARD_BOOTSTRAP_KEYS }, async (at) => {
      assert.deepEqual(
        at.firstKeys.map(({ environment }) => environment),
        made,
      );
      for (const key of [strange, staging]) {
        assert.deepEqual(
          (await list(at.api(key))).map(({ role, name }) => [name, role]),
          [["bootstrap", "admin"]],
        );
      }
      await at.api(staging)("POST", "/flags", { key: "s", type: "boolean" });
      assert.deepEqual((await at.api(strange)("GET", "/flags")).body, []);
    });
  }
  const longest = randomBytes(100).toString("hex");
  await start({ HALYARD_BOOTSTRAP_KEYS: `later=${longest}` }, async (at) => {
    assert.deepEqual(at.firstKeys, []);
    assert.equal(await status(at, longest), 200);
    assert.equal(
      await status(at, staging),
      200,
      "leaving a key out of the setting revokes nothing",
    );
  });
});

test("a bootstrap key that was revoked stays revoked, and opens no second environment", async (t) => {
  const start = starts(t);
  const key = "a-key-of-twenty-letters";
  const settings = { HALYARD_BOOTSTRAP_KEYS: `development=${key}` };
  await start(settings, async (at) => {
    const made = await at.api(key)("POST", "/keys", { name: "second", role: "admin" });
    const second = at.api((made.body as { key: string }).key);
    const { id } = (await list(second)).find(({ name }) => name === "bootstrap") ?? {};
    assert.equal((await second("DELETE", `/keys/${id}`)).status, 204);
  });
  await start(settings, async (at) => assert.equal(await status(at, key), 401));
  const moved = start({ HALYARD_BOOTSTRAP_KEYS: `production=${key}` }, async () => {});
  await assert.rejects(moved, {
    name: "StartupProblem",
    message: /belongs to another environment/,
  });
});

test("what anybody would try first is refused as a bootstrap key", () => {
  const HALYARD_BOOTSTRAP_KEYS = (key: string) => ({
    HALYARD_BOOTSTRAP_KEYS: `development=${key}`,
  });
  for (const key of [
    "aaaaaaaaaaaaaaaaaaaa",
    "abababababababababab",
    "12345678901234567890",
    "abcdefghijklmnopqrstuvwxyz",
    "zyxwvutsrqponmlkjihgfe",
    "passwordpasswordpassword",
    "secret-key-secret-key-secret-key",
    "0".repeat(63),
    "11111111112222222222333333333344444444445555555555",
  ]) {
    assert.throws(() => parseConfig(HALYARD_BOOTSTRAP_KEYS(key)), /openssl rand/, key);
  }
  for (const key of [
    "a-key-of-twenty-letters",
    "9b1deb4d3b7d4bad9bdd",
    "a3f5c8e1b2d4967088aa1234567890abcdef001122334455",
  ]) {
    assert.equal(parseConfig(HALYARD_BOOTSTRAP_KEYS(key)).bootstrapKeys.length, 1, key);
  }
});
