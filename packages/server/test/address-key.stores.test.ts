// The key of the hashes of addresses, where the secret key that encrypts it is missing: for a while, or for good.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { after, before, test } from "node:test";
import { composeOperator, parseConfig } from "@halyard/server";
import { copyDatabase } from "../src/operator/copy.ts";
import { createSecretCipher } from "../src/platform/database/secrets/secret-cipher.ts";
import { goodPassword, newAccount, signedIn } from "./support/accounts.ts";
import { assertRefused } from "./support/answers.ts";
import { readRows, writeRows } from "./support/database.ts";
import { signInAs } from "./support/people.ts";
import { dropDatabase } from "./support/postgres.ts";
import { act, propose, protectedEnvironment, type Request } from "./support/protected.ts";
import { newFolder, startTestServer, type TestServer } from "./support/server.ts";
import { storeSettings } from "./support/test-store.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const addresses = () => readRows(server, "select * from user_addresses order by user_id, hash");
const sealedKey = async () =>
  (await readRows(server, "select address_key from installation"))[0]?.address_key as Uint8Array;
const setSealedKey = (sealed: Uint8Array) =>
  writeRows(server, "update installation set address_key = ?", Buffer.from(sealed));
const loseKey = () =>
  setSealedKey(createSecretCipher([randomBytes(32)]).seal("another key", "installation"));
type Operator = Awaited<ReturnType<typeof composeOperator>>;
const asOperator = async <T>(work: (operator: Operator) => Promise<T>): Promise<T> => {
  const operator = await composeOperator(parseConfig(await storeSettings(server.folder)));
  try {
    return await work(operator);
  } finally {
    await operator.close();
  }
};
const reencrypt = (isAddressKeyLost = false) =>
  asOperator((operator) => operator.reencryptSecrets({ isAddressKeyLost }));

const copy = async () => {
  const folder = newFolder();
  const [from, to] = await Promise.all([server.folder, folder].map(storeSettings));
  const watch = { copied: () => undefined, compared: () => undefined };
  try {
    return await copyDatabase(parseConfig(from ?? {}), parseConfig(to ?? {}), {
      force: true,
      watch,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await dropDatabase(basename(folder));
  }
};

test("what needs the key is refused and erases nothing; reencrypt makes a new key", async () => {
  const { name, asBen } = await protectedEnvironment(server);
  const roles = { [name]: "editor" as const };
  const owner = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  const account = await newAccount(server, { email: "early@example.com", roles });
  const cy = await signInAs(server, { name: "Cy", email: "early@other.example", roles });
  const moved = { email: "early-cy@example.com" };
  assert.equal((await owner("PATCH", `/users/${cy.userId}`, moved)).status, 200);
  const made = await propose(cy.in(name), { description: "a" });

  const [key, known] = [await sealedKey(), await addresses()];
  await loseKey();
  const missing = [503, "secret key", "HALYARD_SECRET_KEY", "secrets reencrypt"] as const;
  assertRefused(await act(asBen, made, "approve"), ...missing);
  const invited = { name: "Dan", email: "dan@example.com" };
  assertRefused(await owner("POST", "/users", invited), ...missing);
  assertRefused(await owner("PATCH", `/users/${cy.userId}`, invited), ...missing);
  // A password is no address.
  await signedIn(server, { email: account.email, password: goodPassword });
  assert.deepEqual(await addresses(), known);

  const unreadable = await asOperator((operator) => operator.unreadableSecrets());
  assert.deepEqual(unreadable, ["installation"]);

  await setSealedKey(key);
  assert.deepEqual(await reencrypt(), { count: 1, lostAddresses: false });
  assert.deepEqual(await addresses(), known);
  assert.equal(((await act(asBen, made, "approve")).body as Request).state, "applied");

  await loseKey();
  await assert.rejects(reencrypt(), /secret key.*--lost-address-key/);
  await assert.rejects(copy(), /secret key.*--lost-address-key/);
  assert.deepEqual(await addresses(), known);
  assert.deepEqual(await reencrypt(true), { count: 1, lostAddresses: true });
  assert.deepEqual(await reencrypt(), { count: 1, lostAddresses: false });
  assert.ok((await copy()).ok);
  const left = await addresses();
  const people = new Set(left.map((row) => row.user_id));
  assert.deepEqual([left.length, people], [2, new Set([account.userId, cy.userId])]);
  const next = await propose(cy.in(name), { description: "b" });
  assert.equal(((await act(asBen, next, "approve")).body as Request).state, "applied");
});
