// The Caddyfile of docs/operate/reverse-proxy.md, with the addresses of this machine, in front of two servers on one store.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { folderOf, freePort, missing } from "../packages/sdk/test/support/guide.ts";
import { newFolder, startTestServer } from "../packages/server/test/support/server.ts";
import { until } from "../packages/server/test/support/until.ts";
import { blockTitled } from "./support/pages.ts";

test("Caddy", { skip: missing("caddy", "version") }, async (t) => {
  const folder = newFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const settings = { HALYARD_DATA: folder, HALYARD_TRUST_PROXY: "127.0.0.1" };
  const first = await startTestServer(settings);
  const second = await startTestServer(settings);
  let open = [first, second];
  t.after(() => Promise.all(open.map((server) => server.close())));

  const url = `http://127.0.0.1:${await freePort()}`;
  const site = blockTitled("docs/operate/reverse-proxy.md", "Caddyfile")
    .replace("flags.example.com", url)
    .replace("10.0.0.11:4400", new URL(first.url).host)
    .replace("10.0.0.12:4400", new URL(second.url).host)
    .replace("health_interval 5s", "health_interval 100ms");
  const cwd = folderOf(t, { Caddyfile: `{\n\tadmin off\n\tauto_https off\n}\n${site}` });
  const caddy = spawn("caddy", ["run"], {
    cwd,
    env: { ...process.env, HOME: cwd },
    stdio: "ignore",
  });
  const exited = once(caddy, "exit");
  t.after(async () => {
    caddy.kill("SIGTERM");
    await exited;
  });
  const ask = (path: string, init: RequestInit = {}) => fetch(`${url}${path}`, init);
  await until("Caddy is up", () =>
    ask("/healthz").then(
      ({ ok }) => ok,
      () => false,
    ),
  );

  const { keys } = await first.environment();
  const headers = { authorization: `Bearer ${keys.admin}`, "content-type": "application/json" };
  const stream = await ask("/api/v1/stream", { headers });
  const events = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(events);
  assert.match((await events.read()).value ?? "", /event: snapshot/);

  const body = JSON.stringify({ key: "new-checkout", type: "boolean" });
  assert.equal((await ask("/api/v1/flags", { method: "POST", headers, body })).status, 201);
  let received = "";
  while (!received.includes("event: change")) received += (await events.read()).value ?? "";
  await events.cancel();

  // Refused by Caddy: the server would say why.
  const metrics = await ask("/metrics");
  assert.deepEqual([metrics.status, await metrics.text()], [403, ""]);
  const signIn = { method: "POST", body: JSON.stringify({ key: keys.admin }) };
  const origin = { "content-type": "application/json", origin: url };
  assert.equal((await ask("/session", { ...signIn, headers: origin })).status, 200);

  open = [first];
  await second.close();
  await until("every request goes to the other instance", async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => ask("/api/v1/flags", { headers })),
    );
    return answers.every(({ status }) => status === 200);
  });
});
