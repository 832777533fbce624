// The short way of plain reads answers as the way through the framework does, to the header.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** Everything that is told, but for what differs by its nature. */
const ask = async (path: string, key: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    headers: { authorization: `Bearer ${key}`, "x-request-id": "same", ...headers },
  });
  const told = Object.fromEntries(response.headers);
  delete told.date;
  return { status: response.status, headers: told, text: await response.text() };
};

/** A parameter list without parameters is unusual enough. */
const askBothWays = async (path: string, key: string) => {
  const answer = await ask(path, key);
  assert.deepEqual(answer, await ask(`${path}?`, key));
  return answer;
};

test("both ways give the same answer, before and after every change", async () => {
  const { admin, keys } = await server.environment();
  const paths = ["/flags", "/flags/a", "/flags/b", "/flags/missing", "/flags/%61", "/flags/a/"];
  const seen = new Set<string>();
  const look = async () => {
    for (const key of [keys.server, keys.admin, keys.client, "hal_wrong_key-0123456789"]) {
      for (const path of paths) {
        const { status, text } = await askBothWays(path, key);
        seen.add(`${status} ${text}`);
      }
    }
  };
  await look();
  await admin("POST", "/flags", { key: "a", type: "boolean", description: "ü" });
  await look();
  await admin("POST", "/flags", { key: "b", type: "rollout", percentage: 0.001 });
  await admin("PATCH", "/flags/a", { enabled: true });
  await look();
  await admin("DELETE", "/flags/a");
  await look();
  // The list and the flags in each of their states, four things that are not there, two refusals.
  assert.equal(seen.size, 4 + 3 + 4 + 2);
  assert.deepEqual([...new Set([...seen].map((answer) => answer.slice(0, 3)))].sort(), [
    "200",
    "401",
    "403",
    "404",
  ]);
});

test("a key that is revoked reads nothing more", async () => {
  const { admin, keys } = await server.environment();
  assert.equal((await ask("/flags", keys.server)).status, 200);
  const listed = (await admin("GET", "/keys")).body as { id: string; role: string }[];
  const { id } = listed.find(({ role }) => role === "server") ?? { id: "" };
  assert.equal((await admin("DELETE", `/keys/${id}`)).status, 204);
  assert.equal((await ask("/flags", keys.server)).status, 401);
});

test("a read counts once towards the limit, also when it finds nothing", async (t) => {
  const limited = await startTestServer({ HALYARD_RATE_LIMIT: "4" });
  t.after(() => limited.close());
  const { keys } = await limited.environment();
  const statuses: number[] = [];
  for (const path of ["/flags", "/flags/missing", "/flags", "/flags/missing", "/flags", "/flags"]) {
    const { status } = await fetch(`${limited.url}/api/v1${path}`, {
      headers: { authorization: `Bearer ${keys.server}` },
    });
    statuses.push(status);
  }
  assert.deepEqual(statuses, [200, 404, 200, 404, 429, 429]);
});
