// Whom a change changes, in a real browser: in dialogs, beside drafts and on change requests; and the limit on it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import type { Api } from "../../server/test/support/api.ts";
import { type SignedIn, signInAs } from "../../server/test/support/people.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, lineOf, notice, stateOf } from "./support/flags.ts";
import { flips, inDialog, limit, says, seedProduction } from "./support/flips.ts";
import { openAsPerson } from "./support/people.ts";

const browser = testBrowser();
let server: TestServer;
let production: Api;
let olga: SignedIn;
const flags = "/environments/production/flags";

/** Answers to these wait until it is called. */
const hold = async (page: Page, addresses: RegExp): Promise<() => void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.context().route(addresses, async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
};

before(async () => {
  server = await startTestServer();
  production = await seedProduction(server);
  olga = await signInAs(server, { name: "Olga", owner: true });
});
after(() => server.close());

test("a change says whom it changes, by rule, and what is not known", async (t) => {
  const { page } = await openAsPerson(browser, t, server.url, olga, `${flags}/checkout`, {
    ...audited,
    // One preview is cut off.
    expected: [/net::ERR_FAILED/],
  });
  const draft = page.getByRole("form", { name: "Targeting" });
  const json = draft.getByLabel(/JSON/).and(page.locator("textarea"));
  await draft.getByRole("button", { name: "Show the JSON" }).click();
  const rules = [
    { id: "testers", when: { segment: ["testers"] }, serve: "on" },
    { id: "pro", when: { attribute: "plan", op: "in", values: ["pro"] }, serve: "on" },
  ];
  await json.fill(JSON.stringify({ otherwise: "off", rules }));
  await says(
    flips(page),
    /^Of 40 people seen since .*, about 23% \(\d+–\d+%\) change from off \(rule pro\) to on \(rule pro\)\.$/,
  );
  // The text is laid out anew when it is left, and what is below moves.
  await json.blur();
  await flips(page).getByText("Examples (9)").click();
  await flips(page)
    .getByText(/targetingKey: user-\d+, plan: pro/)
    .first()
    .waitFor();
  await audit(page, "a draft with its preview");
  await fitsOn(page, 320);

  const abroad = { attribute: "country", op: "in", values: ["NL"] };
  const asked = [...rules, { id: "abroad", when: abroad, serve: "on" }];
  await json.fill(JSON.stringify({ otherwise: "off", rules: asked }));
  await flips(page)
    .getByText("Not known for 30 people: nobody who was seen has the attribute country.")
    .waitFor();

  // The dialog of the save has it too; what fails with it does not keep anybody from saving.
  await page.context().route("**/api/v1/preview", (route) => route.abort());
  await json.fill(JSON.stringify({ otherwise: "off", rules: rules.toReversed() }));
  await draft.getByRole("button", { name: "Save targeting" }).press("Enter");
  await dialog(page)
    .getByText(/^No preview of whom this changes/)
    .waitFor();
  await dialog(page).getByRole("button", { name: "Change flag" }).press("Enter");
  await notice(page, "checkout").waitFor();
  await page.context().unroute("**/api/v1/preview");
});

test("a change past the limit is confirmed with the percentage, once for several", async (t) => {
  const { page } = await openAsPerson(browser, t, server.url, olga, flags, audited);
  await page.goto("/environments/production/environments/production");
  await page.getByLabel("Percent of people").fill("20");
  await page.getByRole("button", { name: "Set limit" }).click();
  await notice(page, "production").getByText("Limit saved.").waitFor();
  await audit(page, "the settings with a limit");

  await page.goto(`${flags}/banner`);
  const letGo = await hold(page, /asked-preview|\/api\/v1\/preview$/);
  await page.getByRole("switch", { name: "Off" }).click({ force: true });
  const button = dialog(page).getByRole("button", { name: "Change flag" });
  const place = await button.boundingBox();
  letGo();
  await says(inDialog(page), /^All people change from off to on: 40 of 40 seen/);
  // It would be clicked in vain.
  assert.deepEqual(await button.boundingBox(), place, "the button has moved");
  await audit(page, "a change with its preview");
  await button.press("Enter");
  await dialog(page).getByText("More people change than the limit allows").waitFor();
  const anyway = dialog(page).getByRole("button", { name: "Change 100% of people anyway" });
  await anyway.waitFor();
  await audit(page, "a change past the limit");
  // Enter alone is no confirmation.
  await page.keyboard.press("Enter");
  await dialog(page).waitFor({ state: "detached" });
  await page.getByRole("switch", { name: "Off" }).waitFor();
  assert.partialDeepStrictEqual(await stateOf(production, "banner"), { enabled: false });

  await page.getByRole("switch", { name: "Off" }).click({ force: true });
  await dialog(page).getByRole("button", { name: "Change flag" }).press("Enter");
  await anyway.click();
  await notice(page, "banner").getByText("Now on for everyone.").waitFor();
  assert.partialDeepStrictEqual(await stateOf(production, "banner"), { enabled: true });

  await page.goto(`${flags}?q=s`);
  for (const key of ["search", "shipping"]) await page.getByLabel(`Select ${key}`).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await lineOf(page, "shipping").waitFor();
  await says(inDialog(page), /^Of 40 people seen since /);
  await dialog(page).getByLabel("Type production to confirm").fill("production");
  await dialog(page).getByRole("button", { name: "Delete 2 flags" }).press("Enter");
  await dialog(page)
    .getByRole("button", { name: /^Change \d+% of people anyway$/ })
    .click();
  await notice(page, "Deleted in production").waitFor();
  assert.equal((await production("GET", "/flags/shipping")).status, 404);
  await limit(olga, "production", null);
});
