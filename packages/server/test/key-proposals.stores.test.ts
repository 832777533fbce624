// What keys propose in protected environments: for another environment, and about keys themselves.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import { signInAs, signInUser } from "./support/people.ts";
import { act, propose, protectedEnvironment, type Request } from "./support/protected.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const idOf = (key: string): string => key.split("_")[1] ?? "";

test("a request of an owner key for another environment than its own is applied", async () => {
  const { name } = await protectedEnvironment(server);
  const olga = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  const home = await server.environment();
  const key = await home.newKey("owner");
  const request = await propose(server.api(key), { protected: false }, `/environments/${name}`);
  const approved = await act(olga, request, "approve");
  assert.equal(approved.status, 200, approved.text);
  assert.equal((approved.body as Request).state, "applied");
});

test("a session from the operator's link can do the same, from any environment", async () => {
  const { name } = await protectedEnvironment(server);
  const olga = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  const home = await server.environment();
  const keyIds = [idOf(home.keys.admin)];
  const link = { carried: keyIds, created: [] };
  const session = { keyIds, userId: null, link, method: "link" } as const;
  const asOwner = (await signInUser(server, "", session)).in(home.name);
  const request = await propose(asOwner, { protected: false }, `/environments/${name}`);
  const approved = await act(olga, request, "approve");
  assert.equal(approved.status, 200, approved.text);
});

test("a request for another environment isn't applied after its owner key is revoked", async () => {
  const { name } = await protectedEnvironment(server);
  const olga = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  const home = await server.environment();
  const key = await home.newKey("owner");
  const request = await propose(server.api(key), { protected: false }, `/environments/${name}`);
  const asOwner = server.api(await home.newKey("owner"));
  assert.equal((await asOwner("DELETE", `/keys/${idOf(key)}`)).status, 204);
  assertRefused(await act(olga, request, "approve"), 409, "may no longer make these changes");
});

const setDirect = (key: string, writesDirectly: boolean) => ({
  operations: [{ kind: "key", key: idOf(key), action: "patch", body: { writesDirectly } }],
});

test("a request that takes direct writing away from a key has a title that says so", async () => {
  const { name, admin, newKey } = await protectedEnvironment(server);
  const olga = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  const key = await newKey("editor");
  const given = await admin("POST", "/change-requests", setDirect(key, true));
  assert.equal((given.body as Request).title, `Let the key ${idOf(key)} write directly`);
  assert.equal((await act(olga, given.body as Request, "approve")).status, 200);
  const taken = await admin("POST", "/change-requests", setDirect(key, false));
  assert.equal((taken.body as Request).title, `Stop the key ${idOf(key)} from writing directly`);
  assert.equal((await act(olga, taken.body as Request, "approve")).status, 200);
  const direct = await server.api(key)("PATCH", "/flags/checkout", { enabled: true });
  assert.equal(direct.status, 202, "it proposes again");
});

test("a personal key can't be proposed for direct writing: its person needs an approval", async () => {
  const { name, admin, asAda } = await protectedEnvironment(server);
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const made = await asAda("POST", "/personal-keys", { name: "laptop", role: "editor", expiresAt });
  assert.equal(made.status, 201, made.text);
  const { key } = made.body as { key: string };
  const refused = await admin("POST", "/change-requests", setDirect(key, true));
  assertRefused(refused, 409, "is a personal key");
  const olga = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  const none = await olga("GET", "/change-requests?state=open");
  assert.deepEqual((none.body as { requests: unknown[] }).requests, []);
});
