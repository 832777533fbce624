// Invitations: good once, for one person, until they expire; and no way around a second factor.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { codeAt, stepAt } from "../src/features/people/sign-in/totp.ts";
import {
  codeNeeded,
  goodPassword,
  headersOf,
  invite,
  newAccount,
  newEmail,
  signedIn,
  signIn,
} from "./support/accounts.ts";
import { assertRefused } from "./support/answers.ts";
import { readRows } from "./support/database.ts";
import { day, movableClock } from "./support/movable-clock.ts";
import { addPerson, signInAs } from "./support/people.ts";
import { turnOnSecondFactor } from "./support/second-factor.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { sessionOf, setCookieOf } from "./support/session.ts";

const clock = movableClock();
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: clock.clock });
});
after(() => server.close());

const look = (token: string) =>
  server.anonymous("GET", `//session/invitation?token=${encodeURIComponent(token)}`);
const accept = (token: string, more: object = {}) =>
  server.anonymous("POST", "//session/invitation", {
    token,
    name: "Ada",
    password: goodPassword,
    ...more,
  });
const read = (cookie: string) => server.anonymous("GET", "//session", undefined, { cookie });

test("an owner invites somebody, who looks at it as often as they like and accepts it once", async () => {
  const { name } = await server.environment();
  const owner = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  const email = newEmail();
  const wanted = { name: "Somebody", email, roles: { [name]: "viewer" } };
  const { body } = await owner("POST", "/users", wanted);
  const { url } = (body as { invitation: { url: string } }).invitation;
  const token = new URL(url).searchParams.get("token") ?? "";
  for (let turn = 0; turn < 2; turn += 1) {
    const answer = await look(token);
    assert.deepEqual(answer.body, {
      ...{ name: "Somebody", email, providers: [] },
      ...{ invitedBy: "Olga", owner: false, roles: { [name]: "viewer" } },
    });
    assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
    assert.equal(answer.headers.get("cache-control"), "no-store");
  }
  const accepted = await accept(token, { name: " Ada Lovelace " });
  assert.equal(accepted.headers.get("referrer-policy"), "no-referrer");
  assert.partialDeepStrictEqual(accepted.body, {
    method: "password",
    user: { name: "Ada Lovelace", email, hasPassword: true },
    environments: [{ name, role: "viewer" }],
  });
  for (const again of [
    await look(token),
    await accept(token, { password: "somebody else's word" }),
  ]) {
    assertRefused(again, 401, "was used");
    assert.equal(setCookieOf(again), undefined);
  }
  await signedIn(server, { email, password: goodPassword });
});

test("of fifty who accept it at the same moment one does", async () => {
  const userId = await addPerson(server, { email: newEmail() });
  const token = await invite(server, userId);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) => accept(token, { password: `${goodPassword} ${at}` })),
  );
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 1, String(statuses));
  // The others find it gone.
  assert.ok(
    statuses.every((status) => [200, 401].includes(status)),
    String(statuses),
  );
  const rows = await readRows(server, "select hash from sessions where user_id = ?", userId);
  assert.equal(rows.length, 1);
});

test("a link of the operator is no invitation, and an invitation no link of the operator", async () => {
  const once = new URL(server.dashboardUrl ?? "").searchParams.get("once") ?? "";
  assertRefused(await accept(once), 401, "never existed");
  const token = await invite(server, await addPerson(server, { email: newEmail() }));
  const answer = await server.anonymous("GET", `//sign-in?once=${token}`);
  assert.equal(answer.headers.get("location"), "/sign-in?link=expired");
  assert.equal(setCookieOf(answer), undefined);
  // Nobody has used either of them up.
  assert.equal((await look(token)).status, 200);
  assert.match(
    (await server.anonymous("GET", `//sign-in?once=${once}`)).headers.get("location") ?? "",
    /flags$/,
  );
});

test("it is nobody's after seven days, nor when it was never issued", async () => {
  const userId = await addPerson(server, { email: newEmail() });
  const token = await invite(server, userId, new Date(clock.clock().getTime() + day));
  assert.equal((await look(token)).status, 200);
  clock.forward(day);
  for (const each of [token, "x", "A".repeat(43)]) {
    assertRefused(await look(each), 401, "has expired");
    assertRefused(await accept(each), 401, "has expired");
  }
});

test("without an address there is nothing to sign in with", async () => {
  const token = await invite(server, await addPerson(server, {}));
  assertRefused(await accept(token), 409, "e-mail address");
  assert.equal((await look(token)).status, 200);
});

test("a bad name is refused", async () => {
  const token = await invite(server, await addPerson(server, { email: newEmail() }));
  for (const name of [" ", "two\nlines", "a".repeat(101)]) {
    assertRefused(await accept(token, { name }), 400, "name");
  }
});

test("whoever has lost the password chooses another: it ends every session, and keeps the second factor", async () => {
  const account = await newAccount(server);
  const { secret, session } = await turnOnSecondFactor(server, account.session, clock.clock);
  const token = await invite(server, account.userId);
  const password = "a new one that is long enough";
  codeNeeded(await accept(token, { password }));
  codeNeeded(await accept(token, { password, code: "000000" }));
  codeNeeded(await accept(token, { password, code: "" }));
  // Nothing has happened until then.
  assert.equal((await read(session.cookie)).status, 200);
  assert.equal((await look(token)).status, 200);
  codeNeeded(await signIn(server, account));

  clock.forward(30_000);
  const code = codeAt(secret, stepAt(clock.clock()));
  const accepted = sessionOf(await accept(token, { password, code }));
  assert.partialDeepStrictEqual((await read(accepted.cookie)).body, {
    user: { hasSecondFactor: true },
  });
  assertRefused(await read(session.cookie), 401);
  assertRefused(await signIn(server, account), 401, "wrong");
  codeNeeded(await signIn(server, { ...account, password }));
  const list = await server.anonymous("GET", "//session/list", undefined, headersOf(accepted));
  assert.equal((list.body as unknown[]).length, 1);
});
