// Signing in and out in a real browser, and that the stored session is of no use to anyone else.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { addressOf, until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole("heading", { name, level: 1 });
const signInHeading = (page: Page) => heading(page, "Sign in to Halyard");

test("the sign-in link works once, and its token does not stay in the URL", async (t) => {
  const link = server.dashboardUrl ?? "";
  assert.match(link, /\/sign-in\?once=[\w-]{43}$/);
  const { page, context } = await browser.visit(t, server.url);
  await page.goto(link);
  await heading(page, "Flags").waitFor();
  assert.equal((await addressOf(page)).search, "");
  const [cookie, ...others] = await context.cookies();
  assert.deepEqual(others, []);
  assert.ok(cookie);
  const { name, httpOnly, sameSite, path, secure, domain } = cookie;
  assert.deepEqual(
    { name, httpOnly, sameSite, path, secure, domain },
    {
      name: "halyard_session",
      httpOnly: true,
      sameSite: "Strict",
      path: "/",
      secure: false,
      domain: "127.0.0.1",
    },
  );
  const hours = (cookie.expires - Date.now() / 1_000) / 3_600;
  assert.ok(hours > 11.9 && hours <= 12.001, `${hours} hours`);
  assert.equal(await page.evaluate(() => document.cookie), "");

  const second = await browser.visit(t, server.url, audited);
  await second.page.goto(link);
  await second.page.getByText("This link has expired").waitFor();
  assert.deepEqual(await second.context.cookies(), []);
  await audit(second.page, "sign-in");
  await fitsOn(second.page, 320);
});

test("a key signs in, a wrong one is refused, and signing out ends it", async (t) => {
  const { name, keys } = await server.environment();
  const { page, context } = await browser.visit(t, server.url, { secrets: [keys.admin] });
  await page.goto("/");
  await signInHeading(page).waitFor();
  await page.getByLabel("API key").fill("not-a-key");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("Unknown key").waitFor();
  assert.deepEqual(await context.cookies(), []);

  await page.getByLabel("API key").fill(keys.admin);
  await page.getByRole("button", { name: "Sign in" }).click();
  await heading(page, "Flags").waitFor();
  await page.getByText(name).first().waitFor();

  const [stolen] = await context.cookies();
  await page.getByRole("button", { name: "Sign out" }).click();
  await signInHeading(page).waitFor();
  assert.deepEqual(await context.cookies(), []);
  const cookie = `${stolen?.name}=${stolen?.value}`;
  const again = await server.anonymous("GET", "//session", undefined, { cookie });
  assert.equal(again.status, 401, "a copy of the cookie outlives the sign-out");
  await page.goto("/flags");
  await signInHeading(page).waitFor();
});

test("the session of a revoked key ends", async (t) => {
  const { keys, admin } = await server.environment();
  const made = await admin("POST", "/keys", { name: "to be revoked", role: "admin" });
  const { id, key } = made.body as { id: string; key: string };
  const { page } = await browser.visit(t, server.url, { keys: [key], secrets: [keys.admin] });
  await page.goto("/flags");
  await heading(page, "Flags").waitFor();
  assert.equal((await admin("DELETE", `/keys/${id}`)).status, 204);
  await page.reload();
  await signInHeading(page).waitFor();
});

test("a session that ended says so, and signing in returns to the page and its draft", async (t) => {
  const { keys, admin } = await server.environment();
  await admin("POST", "/flags", { key: "drafted", type: "rollout", percentage: 10 });
  const visited = { ...audited, keys: [keys.admin] };
  const { page, context } = await browser.visit(t, server.url, visited);
  await page.goto("/flags/drafted?from=link");
  const percent = page.getByLabel("Percent of users");
  await percent.fill("20");
  await percent.press("ArrowUp");
  assert.equal(await percent.inputValue(), "21%", "an arrow is a whole percent");
  await page.getByLabel("Description").fill("half a sentence");
  await page.getByRole("link", { name: "Keys", exact: true }).click();
  await heading(page, "Keys").waitFor();
  await page.goBack();
  await heading(page, "drafted").waitFor();
  assert.equal(await percent.inputValue(), "21%");

  await context.clearCookies();
  await page.getByRole("button", { name: "Save changes" }).press("Enter");
  await page.getByText("Your session has ended").waitFor();
  await audit(page, "a session that has ended");
  await page.getByLabel("API key").fill(keys.admin);
  await page.getByRole("button", { name: "Sign in" }).click();
  await heading(page, "drafted").waitFor();
  assert.equal((await addressOf(page)).search, "?from=link");
  assert.equal(await percent.inputValue(), "21%");
  assert.equal(await page.getByLabel("Description").inputValue(), "half a sentence");
  await page.getByRole("button", { name: "Save changes" }).press("Enter");
  await until(async () => {
    const { body } = await admin("GET", "/flags/drafted");
    assert.equal((body as { percentage: number }).percentage, 21);
  });
  const contexts = () =>
    page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("contexts")));
  await page.getByLabel("targetingKey").fill("jane@example.com");
  assert.equal((await contexts()).length, 1);
  await page.getByRole("button", { name: "Sign out" }).click();
  await signInHeading(page).waitFor();
  assert.equal(await page.getByText("Your session has ended").count(), 0);
  assert.deepEqual(await contexts(), [], "people to try flags with are forgotten");
});
