// Approval by another human: accounts that belong together, and keys that belong to no person.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import type { Api } from "./support/api.ts";
import { writeRows } from "./support/database.ts";
import { addPerson, signInAs, signInUser } from "./support/people.ts";
import {
  act,
  flagOf,
  propose,
  protectedEnvironment,
  type Request,
  read,
} from "./support/protected.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const stateOf = (answer: { readonly body: unknown }) => (answer.body as Request).state;
const issue = async (api: Api, body: object): Promise<Api> => {
  const made = await api("POST", "/keys", body);
  assert.equal(made.status, 201, made.text);
  return server.api((made.body as { key: string }).key);
};

test("a request from a key without a person needs approvals of two people, or of an owner", async () => {
  const { name, admin, ada, asAda, asBen } = await protectedEnvironment(server);
  const owner = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  // Ada has the first admin key too.
  const made = await propose(admin, { enabled: true });
  const first = await act(asAda, made, "approve");
  assert.equal(first.status, 200, first.text);
  const { approvals, approvalsNeeded } = first.body as Request & { approvalsNeeded: number };
  assert.deepEqual([stateOf(first), approvals.length, approvalsNeeded], ["open", 1, 2]);
  assert.equal((await flagOf(admin)).enabled, false);
  assertRefused(await act(asAda, made, "approve"), 409, "another person's approval", "owner");
  const again = (await signInUser(server, ada.userId)).in(name);
  assert.equal((await act(again, made, "approve")).status, 409, "another session of hers");
  const second = await signInAs(server, { name: "Ada 2", roles: { [name]: "editor" } });
  const link = { account: ada.userId };
  assert.equal((await owner("POST", `/users/${second.userId}/linked`, link)).status, 200);
  assert.equal((await act(second.in(name), made, "approve")).status, 409, "her other account");
  assert.equal(stateOf(await act(asBen, made, "approve")), "applied");
  const [entry] = (await admin("GET", "/flags/checkout/history")).body as Record<string, unknown>[];
  assert.deepEqual(entry?.changeRequest, { id: made.id, approvedBy: ["Ada", "Ben"] });

  const next = await propose(admin, { enabled: false });
  assert.equal(stateOf(await act(owner, next, "approve")), "applied", "an owner alone");

  const edited = await propose(admin, { enabled: true });
  await act(asAda, edited, "approve");
  const reason = { reason: "Better" };
  assert.equal((await admin("PATCH", `/change-requests/${edited.id}`, reason)).status, 200);
  assert.equal(stateOf(await act(asBen, edited, "approve")), "open", "the first one is void");
  assert.equal(stateOf(await act(asAda, edited, "approve")), "applied");
});

test("if several people approve at once, the first two apply the request, once", async () => {
  const { name, admin } = await protectedEnvironment(server);
  const ids: string[] = [];
  for (let each = 0; each < 6; each += 1) {
    ids.push(await addPerson(server, { name: `P${each}`, roles: { [name]: "editor" } }));
  }
  const people = await Promise.all(ids.map(async (id) => (await signInUser(server, id)).in(name)));
  for (let round = 0; round < 5; round += 1) {
    const made = await propose(admin, { description: `round ${round}` });
    const answers = await Promise.all(people.map((api) => act(api, made, "approve")));
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
    assert.deepEqual(statuses, [200, 200, 409, 409, 409, 409]);
    assert.equal((await read(admin, made)).approvals.length, 2);
  }
  const events = (await admin("GET", "/events?limit=100")).body as { type: string }[];
  assert.equal(events.filter(({ type }) => type === "change_request.applied").length, 5);
});

test("two sessions of one human at once count once", async () => {
  const { name, admin, ada } = await protectedEnvironment(server);
  const sessions = await Promise.all([1, 2, 3].map(() => signInUser(server, ada.userId)));
  const made = await propose(admin, { enabled: true });
  const answers = await Promise.all(sessions.map((each) => act(each.in(name), made, "approve")));
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [200, 409, 409],
  );
  assert.equal((await flagOf(admin)).enabled, false);
});

test("the key of a removed person belongs to no person; a linked account still counts as its issuer", async () => {
  const { name, asAda, asBen } = await protectedEnvironment(server);
  const owner = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  const roles = { [name]: "admin" as const };
  const [cy, other, dan] = await Promise.all([
    signInAs(server, { name: "Cy", roles }),
    signInAs(server, { name: "Cy 2", owner: true }),
    signInAs(server, { name: "Dan", roles }),
  ]);
  const key = await issue(cy.in(name), { name: "ci", role: "editor" });
  const byPerson = await propose(key, { description: "a" });
  assert.equal(stateOf(await act(asBen, byPerson, "approve")), "applied", "somebody issued it");
  await owner("POST", `/users/${cy.userId}/linked`, { account: other.userId });
  assert.equal((await owner("DELETE", `/users/${cy.userId}`)).status, 204);
  const made = await propose(key, { description: "b" });
  assertRefused(await act(other.in(name), made, "approve"), 403, "linked the two");
  assert.equal(stateOf(await act(asBen, made, "approve")), "open");
  assert.equal(stateOf(await act(asAda, made, "approve")), "applied");

  // Accounts that share a linked account belong to one human too.
  const email = "through@example.com";
  const third = await signInAs(server, { name: "Dan 2", email, roles });
  const fourth = await signInAs(server, { name: "Dan 3", roles });
  await writeRows(
    server,
    `insert into user_addresses (user_id, hash, since)
     select '${fourth.userId}', hash, since from user_addresses where user_id = ?`,
    third.userId,
  );
  await owner("POST", `/users/${dan.userId}/linked`, { account: third.userId });
  const proposed = await propose(dan.in(name), { description: "c" });
  assert.equal((await act(fourth.in(name), proposed, "approve")).status, 403);
});

test("linking and approving at the same time: the first one wins", async () => {
  const { name, ada, asAda, ben, asBen } = await protectedEnvironment(server);
  const owner = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  for (let round = 0; round < 5; round += 1) {
    const made = await propose(asAda, { description: `round ${round}` });
    const [approved, linked] = await Promise.all([
      act(asBen, made, "approve"),
      owner("POST", `/users/${ada.userId}/linked`, { account: ben.userId }),
    ]);
    assert.equal(linked.status, 200, linked.text);
    assert.ok([200, 403].includes(approved.status), approved.text);
    const late = await propose(asAda, { description: `late ${round}` });
    assert.equal((await act(asBen, late, "approve")).status, 403);
    await owner("DELETE", `/users/${ada.userId}/linked`);
    for (const each of [made, late]) await act(asAda, each, "withdraw");
  }
});

test("a single owner applies their own change without an approval, as the error suggests", async () => {
  const { name, admin } = await protectedEnvironment(server);
  const owner = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  const made = await propose(owner, { enabled: true });
  assertRefused(await act(owner, made, "approve"), 403, "your own", "requests bypass");
  const passed = await act(owner, made, "bypass", { reason: "I am alone" });
  assert.equal(passed.status, 200, passed.text);
  assert.equal((await flagOf(admin)).enabled, true);
});

test("accounts are linked by owners alone, and only those that exist", async () => {
  const { name, ada, ben, asAda } = await protectedEnvironment(server);
  const owner = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  const path = `/users/${ada.userId}/linked`;
  assert.equal((await asAda("POST", path, { account: ben.userId })).status, 403);
  assertRefused(await owner("POST", path, { account: ada.userId }), 400, "another account");
  assertRefused(await owner("POST", path, { account: "usr_0000000000000000" }), 404);
  assertRefused(await owner("POST", path, { account: "Ben" }), 400);
  assertRefused(await owner("DELETE", "/users/usr_0000000000000000/linked"), 404);
  for (const _ of [1, 2]) {
    const linked = await owner("POST", path, { account: ben.userId });
    assert.deepEqual((linked.body as { linked: string[] }).linked, [ben.userId]);
  }
});

test("an unlinked account that is linked again doesn't bring back the earlier ones", async () => {
  const { name, ada, ben } = await protectedEnvironment(server);
  const owner = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  const cy = await signInAs(server, { name: "Cy", roles: { [name]: "editor" } });
  const linkedWith = async (id: string) =>
    ((await owner("GET", "/users")).body as { id: string; linked: string[] }[]).find(
      (user) => user.id === id,
    )?.linked;
  for (const first of [ada, ben]) {
    const second = first === ada ? ben : ada;
    await owner("POST", `/users/${first.userId}/linked`, { account: second.userId });
    assert.equal((await owner("DELETE", `/users/${first.userId}/linked`)).status, 200);
    const linked = await owner("POST", `/users/${first.userId}/linked`, { account: cy.userId });
    assert.deepEqual((linked.body as { linked: string[] }).linked, [cy.userId]);
    assert.deepEqual(await linkedWith(second.userId), []);
    const made = await propose(first.in(name), { description: `by ${first.userId}` });
    const approved = await act(second.in(name), made, "approve");
    assert.equal(stateOf(approved), "applied", "another human again");
    for (const { userId } of [first, cy]) await owner("DELETE", `/users/${userId}/linked`);
  }
});
