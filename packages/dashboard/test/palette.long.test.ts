// The command palette in a real browser: found with typos, gone to and done from the keyboard, also on a phone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { createFlag, register } from "../../server/test/support/delivery-log.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, isAsWideAsScreen } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { addressOf, dialog, notice, openAs, stateOf, until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const field = (page: Page) => page.getByRole("combobox", { name: "Flag, page, environment" });
const options = (page: Page) => page.getByRole("listbox", { name: "Results" }).getByRole("option");
const count = (page: Page, text: string) => dialog(page).getByRole("status").getByText(text);
const heading = (page: Page, name: string) => page.getByRole("heading", { name, level: 1 });

/** What Enter would choose, as a screen reader hears it. */
const active = async (page: Page): Promise<string> => {
  const id = await field(page).getAttribute("aria-activedescendant");
  const option = page.locator(`[id="${id}"]`);
  assert.equal(await option.getAttribute("aria-selected"), "true");
  return (await option.textContent()) ?? "";
};

const choose = async (page: Page, typed: string, option: string): Promise<void> => {
  await page.keyboard.press("ControlOrMeta+k");
  await page.keyboard.type(typed);
  await until(async () => assert.equal(await active(page), option));
  await page.keyboard.press("Enter");
  await dialog(page).and(page.getByLabel("Go to or do")).waitFor({ state: "detached" });
};

test("the palette: typos are forgiven, nothing typed is lost, and all is reached and done", async (t) => {
  const first = await server.environment();
  const second = await server.environment();
  const { admin } = first;
  for (const key of ["checkout-v1", "checkout-v2", "search"]) await createFlag(admin, key);
  await admin("POST", "/segments", { key: "beta-testers", include: ["user-7"] });
  await register(admin, "https://hooks.example/flags");
  const keys = [second.keys.admin, first.keys.admin];
  const path = `/environments/${first.name}/flags`;
  const { page } = await openAs(browser, t, server.url, keys, path, audited);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/palette-results.*\.js/, async (route) => {
    await held;
    await route.continue();
  });

  // While its list is still being loaded, letters reach the field and not the page, where c would create a flag.
  await page.keyboard.press("/");
  await page.keyboard.press("ControlOrMeta+k");
  await page.keyboard.type("chekcout");
  assert.equal(await field(page).inputValue(), "chekcout");
  release();
  await count(page, "2 results").waitFor();
  assert.equal(await active(page), "checkout-v1flag");
  await page.keyboard.press("ArrowUp");
  await until(async () => assert.equal(await active(page), "checkout-v2flag"));
  await audit(page, "the palette");
  await page.keyboard.press("Escape");
  const search = page.getByRole("searchbox");
  await until(async () =>
    assert.ok(await search.evaluate((element) => element === document.activeElement)),
  );
  assert.equal(await search.inputValue(), "");

  await choose(page, "chekcout v2", "checkout-v2flag");
  await heading(page, "checkout-v2").waitFor();
  // What was used last comes first, and this flag can be acted on.
  await page.getByRole("button", { name: "Go to…" }).click();
  await until(async () => assert.equal(await active(page), "checkout-v2flag"));
  await field(page).fill("checkout");
  await count(page, "2 results").waitFor();
  await field(page).fill("this flag");
  await options(page).filter({ hasText: "Copy the key checkout-v2" }).waitFor();
  await options(page).filter({ hasText: "Turn checkout-v2 on" }).click();
  await until(async () => assert.equal((await stateOf(admin, "checkout-v2")).enabled, true));
  await choose(page, "turn off", "Turn checkout-v2 offaction");
  await until(async () => assert.equal((await stateOf(admin, "checkout-v2")).enabled, false));
  await choose(page, "copy", "Copy the key checkout-v2action");
  await notice(page, "checkout-v2").getByText("Copied.").waitFor();

  await choose(page, "create key", "Create keyaction");
  await dialog(page).getByLabel("Name").waitFor();
  await page.keyboard.press("ControlOrMeta+k");
  assert.equal(await dialog(page).count(), 1, "one dialog at a time");
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "detached" });
  assert.equal((await addressOf(page)).search, "");
  await choose(page, "beta test", "beta-testerssegment");
  await heading(page, "beta-testers").waitFor();
  await choose(page, "hooks flags", "https://hooks.example/flagswebhook");
  await page.getByRole("heading", { name: "https://hooks.example/flags" }).waitFor();
  await choose(page, "theme dark", "Theme: Darkaction");
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  await choose(page, "evnts", "Eventspage");
  await heading(page, "Events").waitFor();
  await choose(page, second.name, `${second.name}environment`);
  await page.waitForURL(`**/environments/${second.name}/events`);
  await choose(page, "sign out", "Sign outaction");
  await page.waitForURL(/\/sign-in/);
});

test("the palette on a phone, and with a read-only key", async (t) => {
  const { keys, admin } = await server.environment();
  await createFlag(admin, "checkout");
  const { page } = await openAs(browser, t, server.url, [keys.server], "/flags", {
    ...audited,
    viewport: { width: 320, height: 640 },
    hasTouch: true,
  });
  await page.getByRole("button", { name: "Go to…" }).tap();
  await field(page).fill("create");
  await count(page, "No results").waitFor();
  assert.equal(await field(page).getAttribute("aria-expanded"), "false");
  await page.keyboard.press("Enter");
  await field(page).fill("chkout");
  await options(page).first().waitFor();
  await isAsWideAsScreen(page, "the palette on a phone");
  await options(page).filter({ hasText: "checkout" }).tap();
  await heading(page, "checkout").waitFor();
});

test("a change from the palette is confirmed in production, and the focus comes back", async (t) => {
  const production = server.firstKeys.find(({ environment }) => environment === "production");
  assert.ok(production);
  const admin = server.api(production.text);
  await createFlag(admin, "checkout");
  const { page } = await openAs(browser, t, server.url, [production.text], "/flags/checkout");
  const back = page.getByRole("link", { name: "All flags" });
  await back.focus();
  await choose(page, "turn on", "Turn checkout onaction");
  await dialog(page).getByText("Change checkout in production?").waitFor();
  await page.keyboard.press("Escape");
  await until(async () =>
    assert.ok(await back.evaluate((element) => element === document.activeElement)),
  );
  assert.equal((await stateOf(admin, "checkout")).enabled, false);
});
