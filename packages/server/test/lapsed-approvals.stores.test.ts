// Rights that ended: approvals of people who may no longer review, and owners who are none any more where memory is behind.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import { writeRows } from "./support/database.ts";
import { signInAs } from "./support/people.ts";
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

const standing = ({ state, approvals }: Request) => [state, approvals.map((each) => each.state)];
const begin = async () => {
  const environment = await protectedEnvironment(server);
  const olga = await signInAs(server, { name: "Olga", owner: true });
  return { ...environment, olga, owner: olga.in(environment.name) };
};

test("the approval of an account that was removed doesn't count", async () => {
  const { name, admin, ada, asAda, asBen, owner } = await begin();
  const made = await propose(admin, { enabled: true });
  assert.equal((await act(asAda, made, "approve")).status, 200);
  assert.equal((await owner("DELETE", `/users/${ada.userId}`)).status, 204);
  assert.deepEqual(standing(await read(admin, made)), ["open", ["voided"]]);
  // Who comes back has a new account, which nothing connects with the old one.
  const again = await signInAs(server, { name: "Ada", roles: { [name]: "editor" } });
  const second = await act(again.in(name), made, "approve");
  assert.deepEqual(standing(second.body as Request), ["open", ["voided", "given"]]);
  assert.equal((await flagOf(admin)).enabled, false);
  const third = await act(asBen, made, "approve");
  assert.deepEqual(standing(third.body as Request), ["applied", ["voided", "given", "given"]]);
  const [entry] = (await admin("GET", "/flags/checkout/history")).body as Record<string, unknown>[];
  assert.deepEqual(entry?.changeRequest, { id: made.id, approvedBy: ["Ada", "Ben"] });
});

test("the approval of a person who may no longer review doesn't count", async () => {
  const { name, admin, ada, asAda, asBen, owner } = await begin();
  const made = await propose(admin, { enabled: true });
  await act(asAda, made, "approve");
  const setRole = (role: string) =>
    owner("PATCH", `/users/${ada.userId}`, { roles: { [name]: role } });
  assert.equal((await setRole("viewer")).status, 200);
  const second = await act(asBen, made, "approve");
  assert.deepEqual(standing(second.body as Request), ["open", ["voided", "given"]]);
  assert.equal((await setRole("editor")).status, 200);
  assert.deepEqual(standing(await read(admin, made)), ["open", ["voided", "given"]]);
  assert.equal(((await act(asAda, made, "approve")).body as Request).state, "applied");
});

test("an owner whose rights ended at another instance approves like others, and can't go past the approval", async () => {
  const { admin, olga, owner, asBen } = await begin();
  const made = await propose(admin, { enabled: true });
  // No revision moves, so the server's memory stays behind.
  const demote = "update api_keys set role = 'editor' where kind = 'access' and user_id = ?";
  await writeRows(server, demote, olga.userId);
  const reason = { reason: "An incident" };
  // The message depends on whether this instance has read the keys again meanwhile.
  assertRefused(await act(owner, made, "bypass", reason), 403, "owner");
  const path = "/flags/checkout?bypass=true&reason=An%20incident";
  assertRefused(await owner("PATCH", path, { enabled: true }), 403, "owner");
  assert.equal((await flagOf(admin)).enabled, false);
  const approved = await act(owner, made, "approve");
  assert.deepEqual(standing(approved.body as Request), ["open", ["given"]]);
  assert.equal(((await act(asBen, made, "approve")).body as Request).state, "applied");
});
