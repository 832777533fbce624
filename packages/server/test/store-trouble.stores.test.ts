// What happens when a key is revoked at the wrong moment, or the store is slow to give up a long delivery log.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { readRows } from "./support/database.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("a key that is revoked while a body is on its way changes nothing", async () => {
  const { admin, keys } = await server.environment();
  const made = await admin("POST", "/keys", { name: "late", role: "admin" });
  const { id, key } = made.body as { id: string; key: string };
  const body = JSON.stringify({ key: "late", type: "boolean" });
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    answer += text;
  });
  socket.write(
    `POST /api/v1/flags HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
  );
  await until("the headers have been read", () => answer.includes("100 Continue"));
  assert.equal((await admin("DELETE", `/keys/${id}`)).status, 204);
  socket.write(body);
  await until("it is answered", () => /HTTP\/1\.1 [2-5]\d\d [A-Z]/.test(answer.slice(25)));
  assert.match(answer, /HTTP\/1\.1 401 /);
  socket.destroy();
  assert.equal((await server.api(keys.admin)("GET", "/flags/late")).status, 404);
});

test("a webhook with a long delivery log is removed whole", async () => {
  const { admin } = await server.environment();
  const made = await admin("POST", "/webhooks", { url: "http://127.0.0.1:9/x", events: ["*"] });
  const { id } = made.body as { id: string };
  for (let index = 0; index < 30; index += 1) {
    await admin("POST", "/flags", { key: `flag-${index}`, type: "boolean" });
  }
  // Two events each.
  const rounds = 9;
  for (let round = 0; round < rounds; round += 1) {
    const patch = { enabled: round % 2 === 0, description: `${round}` };
    const flags = Array.from({ length: 30 }, (_, index) => `/flags/flag-${index}`);
    await Promise.all(flags.map((flag) => admin("PATCH", flag, patch)));
  }
  const left = async () =>
    Number(
      (await readRows(server, "select count(*) as n from deliveries where webhook_id = ?", id))[0]
        ?.n,
    );
  assert.equal(await left(), 30 * (1 + 2 * rounds));
  assert.equal((await admin("DELETE", `/webhooks/${id}`)).status, 204);
  assert.equal(await left(), 0);
  assert.deepEqual((await admin("GET", "/webhooks")).body, []);
  const [entry] = (await admin("GET", "/history?subject=webhook&limit=1")).body as {
    actions: string[];
    before: { active: boolean };
  }[];
  assert.deepEqual(entry?.actions, ["webhook.deleted"]);
  assert.equal(entry?.before.active, true);
});
