import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { openAs } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const heading = (page: Page, name: string) => page.getByRole("heading", { name, level: 1 });

test("an application that failed to load comes with Try again", async (t) => {
  const { keys } = await server.environment();
  const expected = [/Failed to (load|fetch)/, /ERR_FAILED/];
  const { page } = await browser.visit(t, server.url, {
    keys: [keys.admin],
    isNew: true,
    expected,
  });
  await page.route("**/assets/app-*.js", (route) => route.abort());
  await page.goto("/flags");
  const failure = page.getByRole("alert");
  await failure.getByText("The dashboard could not be loaded").waitFor();
  await page.unrouteAll();
  await failure.getByRole("button", { name: "Try again" }).click();
  await heading(page, "Flags").waitFor();
});

test("an address that does not exist shows a page", async (t) => {
  const { keys } = await server.environment();
  const expected = [/404 for/, /Failed to load resource/];
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/no/such", {
    ...audited,
    expected,
  });
  await heading(page, "Page not found").waitFor();
  await audit(page, "an unknown page");
  await page.getByRole("link", { name: "Open the flags" }).click();
  await heading(page, "Flags").waitFor();
});
