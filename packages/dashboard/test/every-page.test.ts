// Every page of the routes: against the rules of accessibility, light and dark, and without scrolling sideways on any screen.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { isDelivered, logWhen, register } from "../../server/test/support/delivery-log.ts";
import { startReceiver } from "../../server/test/support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, isAsWideAsScreen } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { openAs } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const routes = readFileSync(join(import.meta.dirname, "../src/routes.tsx"), "utf8");
/** Their pages have no environment; session.test.ts and people.test.ts have them. */
const elsewhere = ["/sign-in", "/invitation"];
const paths = [...routes.matchAll(/\bpage\(\s*"([^"]+)"/g)]
  .map(([, path = ""]) => path)
  .filter((path) => !elsewhere.includes(path));

const widths = [320, 390, 768, 1280, 1920];

const longKey = "checkout-address-form-with-a-very-long-key-that-somebody-wanted-in-2026";
const rules = [
  {
    id: "staff",
    description: "Everybody of the company",
    when: {
      any: [
        { attribute: "email", op: "endsWith", values: ["@acme.com"] },
        { not: { segment: ["beta-testers"] } },
      ],
    },
    serve: "on",
  },
  {
    when: { attribute: "plan", op: "in", values: ["pro", "team"] },
    serve: [
      { variant: "on", share: 25 },
      { variant: "off", share: 75 },
    ],
  },
];

/** Within the application, as a link does: to load it anew for each page would take most of the time. */
const goTo = async (page: Page, address: string): Promise<void> => {
  await page.evaluate((to) => {
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, address);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.getByLabel("Loading").first().waitFor({ state: "detached" });
};

test("every page is accessible, light and dark, and as wide as the screen", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { keys, admin, name } = await server.environment();
  const other = await server.environment();
  const webhook = await register(admin, `${receiver.url}/${longKey}`);
  await admin("POST", "/segments", { key: "beta-testers", include: ["user-7", "user-8"] });
  await admin("POST", "/flags", { key: "base", type: "rollout", percentage: 25, tags: ["shop"] });
  const requires = [{ flag: "base", variant: "on" }];
  const made = await admin("POST", "/flags", {
    ...{ key: longKey, type: "boolean", otherwise: "off", owner: "team-shop" },
    ...{ rules, requires },
  });
  assert.equal(made.status, 201, made.text);
  await other.admin("POST", "/flags", { key: longKey, type: "boolean" });
  await admin("POST", "/flags", { key: "gone", type: "boolean" });
  await admin("DELETE", "/flags/gone");
  await logWhen(admin, webhook.id, 4, isDelivered);
  const proposed = await admin("POST", "/change-requests", {
    operations: [{ kind: "flag", key: longKey, action: "patch", body: { enabled: true } }],
    reason: "The load test went well",
  });
  assert.equal(proposed.status, 201, proposed.text);
  const { id: requestId } = proposed.body as { id: string };
  const samples: Readonly<Record<string, string>> = {
    "/flags/:key": `/flags/${longKey}`,
    "/segments/:key": "/segments/beta-testers",
    "/webhooks/:id": `/webhooks/${webhook.id}`,
    "/change-requests/:id": `/change-requests/${requestId}`,
    "/environments/:name": `/environments/${name}`,
  };

  const at = `/environments/${name}`;
  const options = { ...audited, expected: [/Content-Security-Policy/] };
  const { page } = await openAs(
    browser,
    t,
    server.url,
    [other.keys.admin, keys.admin],
    `${at}/flags`,
    options,
  );
  assert.ok(paths.length >= 7, `of the routes only ${paths.join(", ")} were found`);
  for (const path of paths) {
    const address = samples[path] ?? path;
    assert.doesNotMatch(address, /:/, `this test needs an example of ${path}`);
    await goTo(page, at + address);
    assert.equal(await page.getByRole("heading", { name: "Page not found" }).count(), 0, path);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      await isAsWideAsScreen(page, `${path} at ${width} pixels`);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await audit(page, path);
  }
});
