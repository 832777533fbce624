// Environments and flags in addresses, and parts that fail to load.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { addressOf, dialog, notice, openAs, seedFlags, stateOf, until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const heading = (page: Page, name: string) => page.getByRole("heading", { name, level: 1 });
const switchTo = async (page: Page, name: string) => {
  await page.getByRole("button", { name: /^Environment: / }).click();
  await page.getByRole("menuitem", { name: `${name} (admin)` }).click();
};

test("over plain http under any name, changes are confirmed and texts are copied", async (t) => {
  const { keys, admin } = await server.environment();
  const baseURL = server.url.replace("127.0.0.1", "flags.test");
  // Nobody watches this one: its address is known to the browser alone.
  const context = await browser.newContext(t, { baseURL });
  const page = await context.newPage();
  await page.goto("/flags");
  assert.equal(await page.evaluate(() => isSecureContext), false);
  await page.getByLabel("API key").fill(keys.admin);
  await page.getByRole("button", { name: "Sign in" }).click();

  await page.getByRole("button", { name: "Create flag" }).first().click();
  await dialog(page).getByLabel("Key").fill("plain");
  await dialog(page)
    .getByLabel(/^rollout/)
    .check();
  await dialog(page).getByRole("button", { name: "Create flag" }).click();
  await heading(page, "plain").waitFor();
  await page.getByLabel("Percent of users").fill("50");
  await page.getByRole("button", { name: "Save changes" }).press("Enter");
  await notice(page, "plain").getByText("Now off, 50% when on.").waitFor();
  assert.partialDeepStrictEqual(await stateOf(admin, "plain"), { percentage: 50 });

  await page.getByRole("button", { name: "Copy key" }).click();
  await page.getByLabel("Description").press("Control+V");
  await until(async () => assert.equal(await page.getByLabel("Description").inputValue(), "plain"));
});

test("the address names the environment, and an address without one opens the last", async (t) => {
  const [first, second] = [await server.environment(), await server.environment()];
  await seedFlags(second.admin, [{ key: "there", type: "boolean" }]);
  const both = [first.keys.admin, second.keys.admin];
  const { page, context } = await openAs(browser, t, server.url, both, "/flags");
  await page.getByText(`0 in ${first.name}`).waitFor();
  assert.equal((await addressOf(page)).pathname, `/environments/${first.name}/flags`);
  await switchTo(page, second.name);
  await page.getByRole("link", { name: "there" }).click();
  await heading(page, "there").waitFor();
  const { href: link, pathname } = await addressOf(page);
  assert.equal(pathname, `/environments/${second.name}/flags/there`);

  // A colleague opens the link; this tab is in the other environment.
  await page.goto(`/environments/${first.name}/keys`);
  await heading(page, "Keys").waitFor();
  const other = await context.newPage();
  await other.goto(link);
  await other.getByText(`boolean flag in ${second.name}`).waitFor();
  await other.goto("/flags/there?x=1");
  await other.getByText(`boolean flag in ${second.name}`).waitFor();
  assert.equal((await addressOf(other)).href, `${link}?x=1`);

  await other.goto("/environments/elsewhere/flags");
  await other.getByText("You are not signed in to elsewhere").waitFor();
  await other.getByRole("link", { name: `open the page in ${second.name}` }).click();
  await heading(other, "Flags").waitFor();
});

test("a flag that the other environment lacks is created there or copied from here", async (t) => {
  const [first, second] = [await server.environment(), await server.environment()];
  await seedFlags(first.admin, [
    { key: "mine", type: "rollout", percentage: 12.5, description: "Ask us", enabled: true },
    { key: "own", type: "boolean" },
  ]);
  const both = [first.keys.admin, second.keys.admin];
  const start = `/environments/${first.name}/flags/mine`;
  const { page } = await openAs(browser, t, server.url, both, start, audited);
  await switchTo(page, second.name);
  await page.getByText(`It exists in ${first.name}.`).waitFor();
  await audit(page, "a flag that this environment lacks");
  await page.getByRole("button", { name: "Create it here" }).waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  await page.getByRole("button", { name: `Copy from ${first.name}` }).click();
  await page.getByText(`rollout flag in ${second.name}`).waitFor();
  assert.deepEqual(await stateOf(second.admin, "mine"), {
    key: "mine",
    type: "rollout",
    enabled: false,
    percentage: 12.5,
    description: "Ask us",
  });

  await page.goto(`/environments/${second.name}/flags/own`);
  await page.getByRole("button", { name: "Create it here" }).click();
  assert.equal(await dialog(page).getByLabel("Key").inputValue(), "own");
  await dialog(page).getByRole("button", { name: "Create flag" }).click();
  await page.getByText(`boolean flag in ${second.name}`).waitFor();
});

test("a deleted flag is listed and restored from its history", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [{ key: "gone", type: "rollout", percentage: 30, enabled: true }]);
  await admin("DELETE", "/flags/gone");
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags", audited);
  await page.getByRole("link", { name: "Deleted flags" }).click();
  await page.getByRole("button", { name: "Restore: gone, version 3" }).waitFor();
  await page.getByRole("link", { name: "gone" }).click();
  const restore = page.getByRole("button", { name: "Restore this version (version 2)" });
  await restore.waitFor();
  await audit(page, "a deleted flag");
  await restore.click();
  await notice(page, "gone").waitFor();
  assert.partialDeepStrictEqual(await stateOf(admin, "gone"), { percentage: 30, enabled: false });
});

test("a part that failed to load comes with Try again, and by itself after an upgrade", async (t) => {
  const { keys } = await server.environment();
  const expected = [/Failed to (load|fetch)/, /could not be loaded/, /404 for/];
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags", { expected });
  await page.route("**/assets/keys-page-*.js", (route) => route.abort(), { times: 2 });
  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByText("A part of the dashboard could not be loaded.").waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Try again" }).click();
  await heading(page, "Keys").waitFor();

  // The files of the page that is open are gone, and the server has a page with others.
  let isAsked = false;
  await page.route("**/assets/events-page-*.js", (route) =>
    isAsked ? route.continue() : route.fulfill({ status: 404 }),
  );
  await page.route(
    (url) => url.pathname === "/",
    (route) => {
      isAsked = true;
      return route.fulfill({ body: '<script type="module" src="/assets/index-new.js"></script>' });
    },
  );
  await page.getByRole("link", { name: "Events" }).click();
  await heading(page, "Events").waitFor();

  // Some servers are not upgraded yet: it does not reload for ever.
  await page.route("**/assets/webhooks-page-*.js", (route) => route.fulfill({ status: 404 }));
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByText("A part of the dashboard could not be loaded.").waitFor();
});
