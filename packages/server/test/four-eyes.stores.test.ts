// Four eyes: nobody approves their own, nothing is applied twice, and nothing that has moved on is overwritten.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setAccess } from "../src/features/people/access-queries.ts";
import { listEnvironments } from "../src/platform/environments.ts";
import { assertRefused } from "./support/answers.ts";
import { writeRows } from "./support/database.ts";
import { signInAs, signInUser, withStore } from "./support/people.ts";
import {
  act,
  flagOf,
  propose,
  protectedEnvironment,
  type Request,
  read,
} from "./support/protected.ts";
import { scrape } from "./support/scrape.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("nobody approves their own: not with another session, not with a personal key, not through a key that they issued", async () => {
  const { name, ada, asAda, asBen, admin } = await protectedEnvironment(server);
  const again = (await signInUser(server, ada.userId)).in(name);
  const personal = await withStore(server, async (store) => {
    const { createApiKeys } = await import("../src/features/keys/keys.ts");
    const { newIds, random, systemClock } = await import("../src/operator/operator.ts");
    const { id } = (await listEnvironments(store)).find((each) => each.name === name) ?? { id: 0 };
    const made = await createApiKeys(store, {
      clock: systemClock,
      random,
      newIds,
    }).createAsOperator(id, {
      name: "Ada's",
      role: "editor",
      user: { id: ada.userId, name: "Ada" },
    });
    return made.text;
  });
  const made = await propose(asAda, { enabled: true });
  for (const api of [asAda, again, server.api(personal)]) {
    const answer = await act(api, made, "approve");
    assert.equal(answer.status, 403, answer.text);
    assert.equal((await act(api, made, "refuse", {})).status, 403);
  }
  const byKey = await propose(server.api(personal), { description: "x" });
  assert.equal(byKey.author.name, "Ada's");
  assert.equal((await act(asAda, byKey, "approve")).status, 403, "proposed with her own key");
  assert.equal((await act(again, byKey, "withdraw")).status, 200, "and it is hers to withdraw");

  const boss = await signInAs(server, { name: "Cy", roles: { [name]: "admin" } });
  const issued = await boss.in(name)("POST", "/keys", { name: "ci", role: "editor" });
  assert.equal(issued.status, 201, issued.text);
  const byIssued = await propose(server.api((issued.body as { key: string }).key), {
    description: "y",
  });
  assert.equal((await act(boss.in(name), byIssued, "approve")).status, 403, "Cy issued the key");
  const asBoss = server.api(
    ((await boss.in(name)("POST", "/keys", { name: "c", role: "admin" })).body as { key: string })
      .key,
  );
  const further = await asBoss("POST", "/keys", { name: "d", role: "editor" });
  const byFurther = await propose(server.api((further.body as { key: string }).key), {
    description: "z",
  });
  assert.equal(
    (await act(boss.in(name), byFurther, "approve")).status,
    403,
    "Cy issued the key that issued the key",
  );
  assert.equal((await act(admin, made, "approve")).status, 403, "a program's key is no person");
  assert.equal((await flagOf(admin)).enabled, false);

  assert.equal((await act(asBen, byIssued, "approve")).status, 200);
  assert.equal((await flagOf(admin)).description, "y");
});

test("what has moved on is not overwritten: 409 with what moved, then a rebase shows the difference", async () => {
  const { name, asAda, asBen, admin } = await protectedEnvironment(server);
  const owner = await signInAs(server, { name: "Olga", owner: true });
  const made = await propose(asAda, { description: "Ada's" });
  const direct = await owner.in(name)("PATCH", "/flags/checkout?bypass=true&reason=An%20incident", {
    description: "Olga's",
  });
  assert.equal(direct.status, 200, direct.text);
  assert.deepEqual((await read(asBen, made)).moved, ["checkout"]);
  const refused = await act(asBen, made, "approve");
  assert.equal(refused.status, 409);
  assert.deepEqual(
    (refused.body as { details: { field: string }[] }).details.map(({ field }) => field),
    ["checkout"],
  );
  const still = await read(asBen, made);
  assert.deepEqual([still.state, still.approvals], ["open", []], "nothing of the approval stays");
  assert.equal((await flagOf(admin)).description, "Olga's");

  assert.equal((await act(asBen, made, "rebase")).status, 403);
  const rebased = await act(asAda, made, "rebase");
  assert.equal(rebased.status, 200, rebased.text);
  const { request, difference } = rebased.body as { request: Request; difference: unknown[] };
  assert.deepEqual(request.moved, []);
  assert.equal(request.operations[0]?.before?.description, "Olga's");
  assert.equal(difference.length, 1);
  assert.equal(((await act(asBen, made, "approve")).body as Request).state, "applied");
  assert.equal((await flagOf(admin)).description, "Ada's");
});

test("what its author edits while somebody looks at it is not approved, nor applied without an approval", async () => {
  const { name, asAda, asBen, admin } = await protectedEnvironment(server);
  const owner = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  const made = await propose(asAda, { description: "harmless" });
  const { digest } = await read(asBen, made);
  const path = `/change-requests/${made.id}/approve`;
  const asSeen = { "if-match": `"${digest}"` };
  const edits = [
    { operations: [{ kind: "flag", key: "checkout", action: "patch", body: { enabled: true } }] },
    { reason: "Another" },
    { applyAt: new Date(Date.now() + 3_600_000).toISOString() },
  ];
  for (const edit of edits) {
    const edited = await asAda("PATCH", `/change-requests/${made.id}`, edit);
    assert.equal(edited.status, 200, edited.text);
    const refused = await asBen("POST", path, undefined, asSeen);
    assertRefused(refused, 412, "edited after you looked");
    assert.equal(refused.headers.get("etag"), `"${(await read(asBen, made)).digest}"`);
    const reason = { reason: "An incident" };
    const passed = await owner("POST", `/change-requests/${made.id}/bypass`, reason, asSeen);
    assertRefused(passed, 412, "edited after you looked");
    assert.equal(passed.headers.get("etag"), refused.headers.get("etag"));
    assert.equal((await flagOf(admin)).enabled, false);
  }
  const seen = await read(asBen, made);
  assert.notEqual(seen.digest, digest);
  assert.equal((await act(asBen, made, "comments", { text: "Fine." })).status, 201);
  assert.equal(
    (await asBen("POST", path, undefined, { "if-match": `"${seen.digest}"` })).status,
    200,
  );
});

test("taking the protection off needs an approval; an owner may go past it, and that is marked", async () => {
  const { asBen, admin, name } = await protectedEnvironment(server);
  const owner = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  const operations = [
    { kind: "environment", key: name, action: "patch", body: { protected: false } },
  ];
  assert.equal((await asBen("POST", "/change-requests", { operations })).status, 403);
  const asked = await owner("POST", "/change-requests", { operations });
  assert.equal(asked.status, 201, asked.text);
  assert.equal((await act(owner, asked.body as Request, "approve")).status, 403);
  assert.equal((await act(asBen, asked.body as Request, "bypass", { reason: "x" })).status, 403);

  const made = await propose(asBen, { enabled: true });
  assert.equal((await act(owner, made, "bypass", {})).status, 400);
  const passed = await act(owner, made, "bypass", { reason: "An incident" });
  assert.equal(passed.status, 200, passed.text);
  assert.equal((passed.body as Request).bypass?.reason, "An incident");
  const [entry] = (await admin("GET", "/flags/checkout/history")).body as Record<string, unknown>[];
  assert.equal((entry?.actor as { name: string } | undefined)?.name, "Ben");
  assert.equal((entry?.bypass as { actor: { name: string } } | undefined)?.actor.name, "Olga");
  const events = (await admin("GET", "/events?limit=2")).body as Record<string, unknown>[];
  for (const event of events) {
    assert.equal((event.bypass as { reason: string }).reason, "An incident");
  }
  const path = "/flags/checkout?bypass=true";
  assert.equal((await asBen("PATCH", `${path}&reason=x`, { enabled: false })).status, 403);
  assert.equal((await owner("PATCH", path, { enabled: false })).status, 400, "without a reason");

  assert.equal((await act(asBen, asked.body as Request, "approve")).status, 200);
  assert.equal((await admin("PATCH", "/flags/checkout", { enabled: false })).status, 200);
  const unmarked = await owner("PATCH", `${path}&reason=x`, { enabled: true });
  assert.equal(unmarked.status, 200);
  const [last] = (await admin("GET", "/flags/checkout/history")).body as Record<string, unknown>[];
  assert.equal(last?.bypass, undefined, "nothing was gone past");
});

test("whoever lost the right to write since is not written for; whoever lost the right to review does not review", async () => {
  const { name, ada, ben, asAda, asBen } = await protectedEnvironment(server);
  const setRole = (userId: string, role: "viewer" | "editor") =>
    withStore(server, (store) =>
      store.transact(async (transaction) => {
        const known = await listEnvironments(transaction);
        const id = known.find((each) => each.name === name)?.id ?? 0;
        const access = { id: `${role}${userId.slice(4, 12)}`, role, isFromGroup: false };
        await setAccess(transaction, userId, id, access, new Date());
      }),
    );
  const made = await propose(asAda, { enabled: true });
  await setRole(ada.userId, "viewer");
  const refused = await act(asBen, made, "approve");
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.text, /may no longer/);
  await setRole(ben.userId, "viewer");
  assert.equal((await act(asBen, made, "approve")).status, 403);
});

test("what somebody who came by the operator's link proposes as an owner is applied", async () => {
  const { name, asBen, admin } = await protectedEnvironment(server);
  const { id } = (await admin("GET", "/key")).body as { id: string };
  const carried = { carried: [id], created: [] };
  const link = { keyIds: [id], userId: null, link: carried, method: "link" } as const;
  const asOwner = (await signInUser(server, "", link)).in(name);
  const request = await propose(asOwner, { protected: false }, `/environments/${name}`);
  const approved = await act(asBen, request, "approve");
  assert.equal(approved.status, 200, approved.text);
});

test("a proposal is no failure of the store", async () => {
  const { asAda, asBen } = await protectedEnvironment(server);
  const before = (await scrape(server.url)).value("halyard_store_errors_total");
  const made = await propose(asAda, { enabled: true });
  await propose(asAda, { description: "x" });
  assert.equal((await act(asBen, made, "approve")).status, 200);
  const operations = [
    { kind: "flag", key: "checkout", action: "patch", body: { enabled: true } },
    { kind: "flag", key: "missing", action: "delete", body: null },
  ];
  assert.equal((await asAda("POST", "/change-requests", { operations })).status, 404);
  assert.equal((await scrape(server.url)).value("halyard_store_errors_total"), before);
});

test("a key that may write directly is not made when it cannot be proposed any more", async () => {
  const { name, admin, asAda } = await protectedEnvironment(server);
  const { id } = await propose(asAda, { enabled: true });
  await writeRows(
    server,
    `with recursive numbers(number) as (select 1 union all select number + 1 from numbers where number < 999)
     insert into change_requests (id, environment_id, state, title, author, authors, created_at, updated_at, summary, operations)
     select 'cr_' || environment_id || '_' || number, environment_id, state, title, author, authors, created_at, updated_at, '[]', '[]'
     from numbers, change_requests where id = ?`,
    id,
  );
  const count = async () => ((await admin("GET", "/keys")).body as unknown[]).length;
  const before = await count();
  const body = { name: "deploy", role: "editor", writesDirectly: true };
  assertRefused(await admin("POST", "/keys", body), 409, `"${name}" has 1000 open`);
  assert.equal(await count(), before);
});
