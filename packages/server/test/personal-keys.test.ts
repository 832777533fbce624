// Keys that people make for themselves: they may do what both the key and the person may, and end with the person.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { after, before, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import type { Answer } from "./support/api.ts";
import { openStream } from "./support/event-reader.ts";
import { signInAs } from "./support/people.ts";
import { dropDatabase } from "./support/postgres.ts";
import { newFolder, startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

interface Made {
  readonly id: string;
  readonly key: string;
  readonly role: string;
  readonly user: { readonly id: string; readonly name: string };
}
const madeBy = ({ status, text, body }: Answer): Made => {
  assert.equal(status, 201, text);
  return body as Made;
};

const day = 24 * 60 * 60 * 1_000;
const inDays = (days: number) => new Date(Date.now() + days * day).toISOString();

test("a key follows what its person may do, at each request, and is named with them", async () => {
  const { name, admin } = await server.environment();
  const root = (await signInAs(server, { name: "Root", owner: true })).in(name);
  const ada = await signInAs(server, { name: "Ada", roles: { [name]: "editor" } });
  const wanted = { name: "laptop", role: "editor", expiresAt: inDays(30) };
  // Kept answers are of the access or key that asked, which may be gone before they are.
  const once = { "idempotency-key": "once" };
  const { key, ...made } = madeBy(await ada.in(name)("POST", "/personal-keys", wanted, once));
  assert.deepEqual(made.user, { id: ada.userId, name: "Ada" });
  assert.deepEqual((await ada.in(name)("GET", "/personal-keys")).body, [made]);

  const laptop = server.api(key);
  const patch = (enabled: boolean) => laptop("PATCH", "/flags/a", { enabled });
  assert.equal((await laptop("POST", "/flags", { key: "a", type: "boolean" }, once)).status, 201);
  const [entry] = (await admin("GET", "/flags/a/history")).body as { actor: unknown }[];
  assert.deepEqual(entry?.actor, {
    keyId: made.id,
    name: "laptop",
    user: { id: ada.userId, name: "Ada" },
  });
  const own = `/history?subject=flag&actor=${ada.userId}`;
  assert.equal(((await admin("GET", own)).body as unknown[]).length, 1);

  const setRole = async (role: string | null) => {
    const changed = await root("PATCH", `/users/${ada.userId}`, { roles: { [name]: role } });
    assert.equal(changed.status, 200, changed.text);
  };
  await setRole("viewer");
  assertRefused(await patch(true), 403, "viewer");
  assert.equal((await laptop("GET", "/flags/a")).status, 200);
  await setRole("admin");
  assert.equal((await patch(true)).status, 200);
  // More than it was made for it does not become.
  assertRefused(await laptop("GET", "/keys"), 403, "editor");
  await setRole(null);
  assert.equal((await laptop("GET", "/flags/a")).status, 401);
  await setRole("editor");
  assert.equal((await patch(false)).status, 200);

  type Listed = readonly { id: string; user: object | null }[];
  const listed = (await admin("GET", "/keys")).body as Listed;
  assert.deepEqual(listed.find(({ id }) => id === made.id)?.user, made.user);
  assert.ok(listed.some(({ user }) => user === null));
  assert.equal((await root("DELETE", `/users/${ada.userId}`)).status, 204);
  assert.equal((await laptop("GET", "/flags/a")).status, 401);
  const left = (await admin("GET", "/keys")).body as Listed;
  assert.ok(left.every(({ id }) => id !== made.id));
});

test("nobody makes a key that may do more than they, or without an end", async () => {
  const { name } = await server.environment();
  const bea = (await signInAs(server, { name: "Bea", roles: { [name]: "viewer" } })).in(name);
  const make = (body: object) =>
    bea("POST", "/personal-keys", { name: "k", role: "server", expiresAt: inDays(1), ...body });
  for (const [wrong, field] of [
    [{ role: "editor" }, "role"],
    [{ role: "admin" }, "role"],
    [{ role: "owner" }, "role"],
    [{ expiresAt: null }, "expiresAt"],
    [{ expiresAt: undefined }, "expiresAt"],
    [{ expiresAt: inDays(-1) }, "expiresAt"],
    [{ expiresAt: inDays(367) }, "expiresAt"],
    [{ expiresAt: "2027-02-30T00:00:00Z x" }, "expiresAt"],
    [{ origins: ["https://example.com"] }, "origins"],
  ] as const) {
    assertRefused(await make(wrong), 400, field);
  }
  for (const role of ["client", "server"]) madeBy(await make({ role }));
  madeBy(await make({ expiresAt: inDays(366) }));
});

test("only people who are signed in have personal keys, and only their own", async () => {
  const { name, keys, newKey } = await server.environment();
  const body = { name: "k", role: "client", expiresAt: inDays(1) };
  for (const key of [keys.client, keys.server, keys.admin, await newKey("owner")]) {
    for (const [method, path] of [
      ["GET", "/personal-keys"],
      ["POST", "/personal-keys"],
      ["DELETE", "/personal-keys/x"],
    ] as const) {
      const answer = await server.api(key)(method, path, method === "POST" ? body : undefined);
      assert.equal(answer.status, 403, `${method} ${path}: ${answer.text}`);
    }
  }
  const roles = { [name]: "editor" } as const;
  const cy = await signInAs(server, { name: "Cy", roles });
  const dot = (await signInAs(server, { name: "Dot", roles })).in(name);
  const made = madeBy(await cy.in(name)("POST", "/personal-keys", { ...body, role: "editor" }));
  // A personal key makes no others.
  assert.equal((await server.api(made.key)("POST", "/personal-keys", body)).status, 403);
  assert.equal((await dot("DELETE", `/personal-keys/${made.id}`)).status, 404);
  assert.deepEqual((await dot("GET", "/personal-keys")).body, []);
  assert.equal((await cy.in(name)("DELETE", `/personal-keys/${made.id}`)).status, 204);
  assert.equal((await server.api(made.key)("GET", "/flags")).status, 401);
});

test("a person has at most twenty, and an admin's is no admin key that the environment can rely on", async () => {
  const { name, admin } = await server.environment();
  const eve = (await signInAs(server, { name: "Eve", roles: { [name]: "admin" } })).in(name);
  const body = { name: "k", role: "admin", expiresAt: inDays(1) };
  for (let count = 0; count < 20; count += 1) madeBy(await eve("POST", "/personal-keys", body));
  assertRefused(await eve("POST", "/personal-keys", body), 409, "20");
  const { id } = (await admin("GET", "/key")).body as { id: string };
  assertRefused(await eve("DELETE", `/keys/${id}`), 409, "last admin key");
});

test("a removed person's sessions, personal keys and streams end on every instance", async (t) => {
  const folder = newFolder();
  const settings = { HALYARD_DATA: folder };
  const [one, two] = [await startTestServer(settings), await startTestServer(settings)];
  try {
    const { name } = await one.environment();
    const root = (await signInAs(one, { name: "Root", owner: true })).in(name);
    const fay = await signInAs(one, { name: "Fay", roles: { [name]: "editor" } });
    const wanted = { name: "k", role: "editor", expiresAt: inDays(1) };
    const { key } = madeBy(await fay.in(name)("POST", "/personal-keys", wanted));
    const other = await signInAs(one, { name: "Gil", roles: { [name]: "viewer" } });

    const instances = [one, two];
    const bySession = fay.headersFor(name);
    const byKey = { "x-api-key": key };
    const statuses = () =>
      Promise.all(
        instances.flatMap(({ url }) =>
          [bySession, byKey].map(
            async (headers) => (await fetch(`${url}/api/v1/flags`, { headers })).status,
          ),
        ),
      );
    assert.deepEqual(await statuses(), [200, 200, 200, 200]);
    const open = async (headers: Readonly<Record<string, string>>) =>
      Promise.all(instances.map(({ url }) => openStream(`${url}/api/v1/stream`, headers)));
    const streams = [...(await open(bySession)), ...(await open(byKey))];
    const kept = await open(other.headersFor(name));
    for (const stream of [...streams, ...kept]) await stream.first(1);

    const began = performance.now();
    assert.equal((await root("DELETE", `/users/${fay.userId}`)).status, 204);
    await Promise.all([
      ...streams.map((stream) => stream.untilEnded()),
      until("nobody lets Fay in", async () => (await statuses()).every((each) => each === 401)),
    ]);
    t.diagnostic(`everything had ended after ${Math.round(performance.now() - began)} ms`);
    assert.deepEqual(
      kept.map(({ ended }) => ended),
      [false, false],
    );
    for (const stream of kept) stream.close();
  } finally {
    await one.close();
    await two.close();
    rmSync(folder, { recursive: true, force: true });
    await dropDatabase(basename(folder));
  }
});
