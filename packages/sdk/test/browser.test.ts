// The published bundle in a real browser, on a page of another origin than the server's: preflights, streams, usage.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createManagement } from "@halyard/sdk/management";
import { findBrowser } from "../../dashboard/test/support/find-browser.ts";
import { startTestServer } from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { publish } from "./support/published.ts";
import { scriptedServer } from "./support/scripted-server.ts";
import { casesFile, checkGroups } from "./support/targeting-cases.ts";

const page = (settings: object): string => `<!doctype html><script type="module">
  import { createContextClient } from "/sdk/esm/browser.js";
  const report = (...said) => fetch("/report", { method: "POST", body: JSON.stringify(said) });
  try {
    const client = createContextClient(${JSON.stringify(settings)});
    client.on("change", ({ keys }) => report("change", ...keys, client.isEnabled("a")));
    client.on("error", ({ error }) => report("error", error.message));
    await report("ready", (await client.ready()).ok, client.isEnabled("a"));
    const isSet = await client.setContext({ targetingKey: "someone else" });
    await report("context", isSet, client.details("a").reason);
    client.on("change", () => client.close().then(() => report("closed")));
  } catch (error) {
    await report("failed", String(error));
  }
</script>
<script type="module">
  import { createClient } from "/sdk/esm/index.js";
  const check = ${checkGroups.toString()};
  const { groups } = await (await fetch("/targeting.json")).json();
  await fetch("/checked", { method: "POST", body: JSON.stringify(check(createClient, groups)) });
</script>`;

test("a page follows its flags, and decides every published case as Node does", async (t) => {
  const published = publish();
  t.after(() => published.remove());
  const server = await startTestServer();
  t.after(() => server.close());
  const { keys } = await server.environment();
  const { flags } = createManagement({ url: server.url, key: keys.admin });
  await flags.create({ key: "a", type: "boolean" });

  const site = await scriptedServer(t, {
    "GET /": (response) =>
      response
        .writeHead(200, { "content-type": "text/html" })
        .end(page({ url: server.url, key: keys.client, context: { targetingKey: "someone" } })),
    "POST /report": (response) => response.writeHead(204).end(),
    "GET /targeting.json": (response) => response.writeHead(200).end(readFileSync(casesFile)),
    "POST /checked": (response) => response.writeHead(204).end(),
  });
  for (const file of published.files.filter((name) => name.endsWith(".js"))) {
    site.answer(`GET /sdk/${file}`, (response) =>
      response
        .writeHead(200, { "content-type": "text/javascript" })
        .end(readFileSync(join(published.installed, file))),
    );
  }
  const reports = () => site.to("POST /report").map(({ body }) => JSON.parse(body) as unknown[]);

  const profile = mkdtempSync(join(tmpdir(), "halyard-browser-"));
  const program = findBrowser();
  assert.ok(
    program,
    "there is no Chromium or Chrome: npm test installs one, or CHROME_PATH names it",
  );
  const browser = spawn(
    program,
    [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-proxy-server",
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
      site.url,
    ],
    // A group of its own: the program may be a script that starts the browser.
    { stdio: "ignore", detached: true },
  );
  const exited = once(browser, "exit");
  t.after(async () => {
    if (browser.pid !== undefined) process.kill(-browser.pid, "SIGKILL");
    await exited;
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
  });

  await until("the page", () => reports().length >= 2);
  assert.deepEqual(reports(), [
    ["ready", true, false],
    ["context", true, "DISABLED"],
  ]);
  await flags.update("a", { enabled: true });
  await until("the end", () => reports().some(([name]) => name === "closed"));
  assert.deepEqual(reports().slice(2), [["change", "a", true], ["closed"]]);
  const usage = await until("its usage", async () => {
    const answer = await flags.usage("a");
    return answer.ok && answer.value.hours.length > 0 ? answer.value : undefined;
  });
  const total = usage.hours.reduce((sum, { on, off }) => sum + on + off, 0);
  assert.equal(total, 3);

  const [checked] = await until("the cases", () => {
    const received = site.to("POST /checked");
    return received.length > 0 && received;
  });
  const { cases, differences } = JSON.parse(checked?.body ?? "") as ReturnType<typeof checkGroups>;
  assert.deepEqual(differences, []);
  assert.ok(cases >= 3_600, String(cases));
});
