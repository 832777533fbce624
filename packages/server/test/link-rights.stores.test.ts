// The rights of the operator's link: those of the keys that it carried, as long as they are valid.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "./support/server.ts";
import { setCookieOf, signInWith } from "./support/session.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("another admin key doesn't get these rights, and doesn't extend them", async () => {
  const { name, keys } = await server.environment();
  const { pathname, search } = new URL(server.dashboardUrl ?? "");
  const cookie = setCookieOf(await server.anonymous("GET", `/${pathname}${search}`))?.pair ?? "";
  const joined = await signInWith(server, [keys.admin], { cookie });
  const users = async (environment: string) =>
    (await server.anonymous("GET", "/users", undefined, joined.headersFor(environment))).status;
  const isOwner = async () => {
    const answer = await server.anonymous("GET", "//session", undefined, { cookie: joined.cookie });
    return (answer.body as { isOwner: boolean }).isOwner;
  };
  assert.equal(await users("development"), 200);
  assert.equal(await users(name), 403, "the link did not carry this key");

  // An environment that was made with these rights has them, but only as long as the link's keys are valid.
  const headers = joined.headersFor("development");
  const made = await server.anonymous("POST", "/environments", { name: "made" }, headers);
  assert.equal(made.status, 201, made.text);
  assert.equal(await users("made"), 200);
  assert.equal(await isOwner(), true);
  for (const { text } of server.firstKeys) {
    const next = await server.api(text)("POST", "/keys", { name: "next", role: "admin" });
    const second = server.api((next.body as { key: string }).key);
    assert.equal((await second("DELETE", `/keys/${text.split("_")[1]}`)).status, 204);
  }
  assert.deepEqual(await Promise.all([name, "made"].map(users)), [403, 403]);
  assert.equal(await isOwner(), false);
  const flags = await server.anonymous("GET", "/flags", undefined, joined.headersFor(name));
  assert.equal(flags.status, 200, "the key itself is valid");
});
