// Environments in a real browser: created as a copy for a while, with a label, kept, and deleted.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { signInAs } from "../../server/test/support/people.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, notice, openAs, seedFlags, until } from "./support/flags.ts";
import { openAsPerson } from "./support/people.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("an owner creates a preview as a copy, sees its label, keeps it, and deletes it", async (t) => {
  const environment = await server.environment();
  const at = `/environments/${environment.name}`;
  await seedFlags(environment.admin, [{ key: "checkout", type: "boolean", enabled: true }]);
  const olga = await signInAs(server, { name: "Olga", owner: true });
  const { page } = await openAsPerson(browser, t, server.url, olga, `${at}/flags`, audited);
  await page.getByRole("button", { name: `Environment: ${environment.name}` }).click();
  await page.getByRole("menuitem", { name: "Manage environments" }).click();
  const list = page.getByRole("list", { name: "Environments" });
  await list.getByRole("link", { name: environment.name }).waitFor();
  await page.getByRole("button", { name: "Create environment" }).click();
  await dialog(page).getByLabel("Name").fill("pr-123");
  await dialog(page).getByLabel("Label").fill("Preview of 123");
  await dialog(page).getByLabel("Begin with").selectOption(environment.name);
  await dialog(page).getByLabel("Expires").selectOption("7d");
  await audit(page, "the dialog that creates an environment");
  await fitsOn(page, 320);
  await dialog(page).getByRole("button", { name: "Create environment" }).click();
  await dialog(page).getByText("Shown only once").waitFor();
  const key = (await dialog(page).getByText(/^hal_/).textContent()) ?? "";
  assert.equal((await server.api(key)("GET", "/flags/checkout")).status, 200);
  await dialog(page).getByRole("button", { name: "I saved the key" }).click();
  await dialog(page).waitFor({ state: "detached" });

  const row = list.getByRole("listitem").filter({ hasText: "Preview of 123" });
  await row.getByText(/^expires/).waitFor();
  await row.getByText("1 flag,").waitFor();
  await row.getByRole("button", { name: "Open pr-123" }).click();
  const switcher = page.getByRole("button", { name: /^Environment: Preview of 123/ });
  await switcher.waitFor();
  await fitsOn(page, 320);
  await audit(page, "the environments, in one with a label");

  await page.getByRole("link", { name: "Preview of 123" }).click();
  await page.getByRole("button", { name: "Keep it" }).click();
  await notice(page, "pr-123").waitFor();
  await until(async () =>
    assert.equal(await page.getByRole("button", { name: "Keep it" }).count(), 0),
  );
  await page.getByRole("textbox", { name: "Label" }).fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: /^Environment: pr-123/ }).waitFor();
  await audit(page, "the settings of an environment");

  await page.getByRole("button", { name: "Delete pr-123…" }).click();
  const remove = dialog(page).getByRole("button", { name: "Delete environment" });
  await dialog(page)
    .getByText(/Its 1 flag, its segments, webhooks/)
    .waitFor();
  assert.equal(await remove.isDisabled(), true);
  await dialog(page).getByLabel("Type pr-123 to confirm").fill("pr-123");
  await audit(page, "the dialog that deletes an environment");
  await page.keyboard.press("Enter");
  await notice(page, "You no longer have access to pr-123").waitFor();
  assert.equal((await server.api(key)("GET", "/flags")).status, 401);
});

test("those who own nothing are told who does", async (t) => {
  const { keys, name } = await server.environment();
  const at = `/environments/${name}`;
  const { page } = await openAs(browser, t, server.url, [keys.admin], `${at}/environments`);
  await page.getByRole("heading", { name: "For owners only" }).waitFor();
  await page.getByRole("button", { name: /^Environment: / }).click();
  await page.getByRole("menuitem", { name: "Sign in to another environment" }).waitFor();
  assert.equal(await page.getByRole("menuitem", { name: "Manage environments" }).count(), 0);
});
