// The files of docs/operate/reverse-proxy.md, with addresses of this machine and without TLS, in front of two servers on one store.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { folderOf, freePort, missing } from "../packages/sdk/test/support/guide.ts";
import { newFolder, startTestServer } from "../packages/server/test/support/server.ts";
import { until } from "../packages/server/test/support/until.ts";
import { blockTitled } from "./support/pages.ts";

const page = "docs/operate/reverse-proxy.md";

interface Proxy {
  /** The title of its file on the page. */
  readonly title: string;
  /** The file for this machine: it listens on `port` and passes on to these servers. */
  readonly file: (text: string, port: number) => string;
  readonly command: readonly [program: string, ...args: string[]];
  /** What it answers itself for /metrics. */
  readonly refusal: RegExp;
}

const caddy: Proxy = {
  title: "Caddyfile",
  file: (text, port) =>
    `{\n\tadmin off\n\tauto_https off\n}\n${text
      .replace("flags.example.com", `http://127.0.0.1:${port}`)
      .replace("health_interval 5s", "health_interval 100ms")}`,
  command: ["caddy", "run", "--config", "proxy.conf", "--adapter", "caddyfile"],
  refusal: /^$/,
};

const nginx: Proxy = {
  title: "/etc/nginx/conf.d/halyard.conf",
  file: (text, port) => {
    const site = text
      .replace("listen 443 ssl;", `listen 127.0.0.1:${port};`)
      .replace(/^ *ssl_certificate.*\n/gm, "");
    return `daemon off;\npid nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${site}}\n`;
  },
  command: ["nginx", "-p", ".", "-c", "proxy.conf"],
  refusal: /nginx/,
};

const check = async (t: TestContext, { title, file, command, refusal }: Proxy): Promise<void> => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const folder = newFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const settings = {
    HALYARD_DATA: folder,
    HALYARD_TRUST_PROXY: "127.0.0.1",
    // nginx passes the host on without the port, which on 443 there is none of.
    HALYARD_PUBLIC_URL: url,
  };
  const first = await startTestServer(settings);
  const second = await startTestServer(settings);
  let open = [first, second];
  t.after(() => Promise.all(open.map((server) => server.close())));

  const text = blockTitled(page, title)
    .replace("10.0.0.11:4400", new URL(first.url).host)
    .replace("10.0.0.12:4400", new URL(second.url).host);
  const cwd = folderOf(t, { "proxy.conf": file(text, port) });
  const [program, ...args] = command;
  const proxy = spawn(program, args, {
    cwd,
    env: { ...process.env, HOME: cwd },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  proxy.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const exited = once(proxy, "exit");
  t.after(async () => {
    proxy.kill("SIGTERM");
    await exited;
  });
  const ask = (path: string, init: RequestInit = {}) => fetch(`${url}${path}`, init);
  await until("the proxy is up", () => {
    assert.equal(proxy.exitCode, null, errors);
    return ask("/healthz").then(
      ({ ok }) => ok,
      () => false,
    );
  });

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

  // Refused by the proxy: the server would say why.
  const metrics = await ask("/metrics");
  assert.equal(metrics.status, 403);
  const refused = await metrics.text();
  assert.match(refused, refusal);
  assert.doesNotMatch(refused, /HALYARD_METRICS_TOKEN|"error"/);
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
};

test("Caddy", { skip: missing("caddy", "version") }, (t) => check(t, caddy));
test("nginx", { skip: missing("nginx", "-v") }, (t) => check(t, nginx));
