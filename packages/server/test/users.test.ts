// People: their accounts and what they may do.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { signInAs } from "./support/people.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("a person does in an environment what their role there allows", async () => {
  const { name } = await server.environment();
  const ada = await signInAs(server, { roles: { [name]: "editor" } });
  const flag = { key: "ada", type: "boolean" };
  assert.equal((await ada.in(name)("POST", "/flags", flag)).status, 201);
  assert.equal((await ada.in(name)("GET", "/keys")).status, 403);
  assert.equal((await ada.in("production")("GET", "/flags")).status, 401);
});
