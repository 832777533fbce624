// Whom a change changes, in a real browser: in dialogs, beside drafts and on change requests; and the limit on it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import type { Api } from "../../server/test/support/api.ts";
import { type SignedIn, signInAs } from "../../server/test/support/people.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, lineOf, notice, openAs, seedFlags, stateOf, until } from "./support/flags.ts";
import { isLeftOut } from "./support/in-depth.ts";
import { openAsPerson } from "./support/people.ts";

const browser = testBrowser();
let server: TestServer;
/** It keeps no sample. */
let silent: TestServer;
let production: Api;
let olga: SignedIn;
const flags = "/environments/production/flags";

/** Spaces that do not break are spaces. */
const says = (place: Locator, pattern: RegExp): Promise<void> =>
  until(async () => {
    const text = await place.locator(".flips-headline").textContent();
    assert.match((text ?? "").replaceAll(/\s/g, " "), pattern);
  });

const flips = (page: Page) => page.getByRole("group", { name: "Whom this changes" });
const inDialog = (page: Page) => dialog(page).getByRole("group", { name: "Whom this changes" });

/** Answers to these wait until it is called. */
const hold = async (page: Page, addresses: RegExp): Promise<() => void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.context().route(addresses, async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
};

/** Forty people, ten of them with the plan pro, none with a country. */
const visit = async (api: Api): Promise<void> => {
  for (let number = 1; number <= 40; number += 1) {
    const context = { targetingKey: `user-${number}`, plan: number <= 10 ? "pro" : "free" };
    const answer = await api("POST", "//ofrep/v1/evaluate/flags", { context });
    assert.equal(answer.status, 200, answer.text);
  }
};

const limit = async (environment: string, maxFlips: number | null): Promise<void> => {
  const api = olga.in(environment);
  const done = await api("PATCH", `/environments/${environment}`, { maxFlips });
  assert.equal(done.status, 200, done.text);
};

before(async () => {
  server = await startTestServer();
  silent = await startTestServer({ HALYARD_CONTEXT_SAMPLE: "0" });
  const key = server.firstKeys.find(({ environment }) => environment === "production")?.text;
  production = server.api(key ?? "");
  olga = await signInAs(server, { name: "Olga", owner: true });
  await seedFlags(production, [
    { key: "banner", type: "boolean" },
    { key: "checkout", type: "boolean", enabled: true },
    { key: "search", type: "boolean" },
    { key: "shipping", type: "rollout", percentage: 25, enabled: true },
  ]);
  await production("POST", "/segments", { key: "testers", include: ["user-1"] });
  await production("PATCH", "/flags/checkout", {
    otherwise: "off",
    rules: [
      { id: "testers", when: { segment: ["testers"] }, serve: "on" },
      { id: "pro", when: { attribute: "plan", op: "in", values: ["pro"] }, serve: "off" },
    ],
  });
  await visit(production);
});
after(() => Promise.all([server.close(), silent.close()]));

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
    /^Of 40 people seen since .*, about 23 % \(\d+–\d+ %\) change from off \(rule pro\) to on \(rule pro\)\.$/,
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
  const anyway = dialog(page).getByRole("button", { name: "Change 100 % of people anyway" });
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
    .getByRole("button", { name: /^Change \d+ % of people anyway$/ })
    .click();
  await notice(page, "Deleted in production").waitFor();
  assert.equal((await production("GET", "/flags/shipping")).status, 404);
  await limit("production", null);
});

test("when the previews of an hour are used up, a change with a limit is confirmed without a percentage", async (t) => {
  const { admin, server: reader, name } = await server.environment();
  await seedFlags(admin, [{ key: "search", type: "boolean" }]);
  await visit(reader);
  await limit(name, 20);
  const bo = await signInAs(server, { name: "Bo", roles: { [name]: "editor" } });
  const operations = Array.from({ length: 100 }, (_, index) => ({
    kind: "flag",
    key: `new-${index}`,
    action: "create",
    body: { type: "boolean" },
  }));
  await until(async () => {
    assert.equal((await bo.in(name)("POST", "/preview", { operations })).status, 429);
  });

  const path = `/environments/${name}/flags/search`;
  const { page } = await openAsPerson(browser, t, server.url, bo, path, audited);
  const ask = async (): Promise<void> => {
    await page.getByRole("switch", { name: "Off" }).click({ force: true });
    await dialog(page).getByText("The impact limit could not be checked").waitFor();
  };
  await ask();
  assert.doesNotMatch((await dialog(page).textContent()) ?? "", /confirmFlips|of people/);
  await audit(page, "a change without a preview");
  // Enter alone is no confirmation.
  await page.keyboard.press("Enter");
  await dialog(page).waitFor({ state: "detached" });
  assert.partialDeepStrictEqual(await stateOf(admin, "search"), { enabled: false });
  await ask();
  await dialog(page).getByRole("button", { name: "Change anyway" }).click();
  await notice(page, "search").getByText("Now on for everyone.").waitFor();
  assert.partialDeepStrictEqual(await stateOf(admin, "search"), { enabled: true });
});

test("a segment's people, and those that review a request, see whom it changes", async (t) => {
  if (isLeftOut(t)) return;
  const { page } = await openAsPerson(
    browser,
    t,
    server.url,
    olga,
    "/environments/production/segments/testers",
    audited,
  );
  await page.getByLabel("Add targeting keys, one per line or with commas").fill("user-20\nuser-21");
  await page.getByRole("button", { name: "Add to the list" }).click();
  await says(inDialog(page), /^Of 40 people seen since .*, about 5 % \(.*\) change from off/);
  await page.keyboard.press("Escape");

  const environment = await server.environment();
  await seedFlags(environment.admin, [{ key: "search", type: "boolean" }]);
  const other = await signInAs(server, { name: "Bo", roles: { [environment.name]: "editor" } });
  const protect = { protected: true };
  const again = await signInAs(server, { name: "Olga", owner: true });
  await again.in(environment.name)("PATCH", `/environments/${environment.name}`, protect);
  await visit(environment.server);
  const made = await again.in(environment.name)("PATCH", "/flags/search", { enabled: true });
  assert.equal(made.status, 202, made.text);
  const { id } = made.body as { id: string };
  const path = `/environments/${environment.name}/change-requests/${id}`;
  const review = await openAsPerson(browser, t, server.url, other, path, audited);
  await says(flips(review.page), /^All people change from off to on: 40 of 40 seen/);
  // Whoever may not see the contexts gets no examples of them.
  assert.equal(
    await flips(review.page)
      .getByText(/^Examples/)
      .count(),
    0,
  );
  await audit(review.page, "a request with its preview");
});

test("without traffic the page says so, and where nothing is sampled it says nothing", async (t) => {
  if (isLeftOut(t)) return;
  const { admin, keys, name } = await server.environment();
  await seedFlags(admin, [{ key: "quiet", type: "boolean" }]);
  const path = `/environments/${name}/flags/quiet`;
  const { page } = await openAs(browser, t, server.url, [keys.admin], path);
  await page.getByRole("button", { name: "Delete" }).click();
  await inDialog(page).getByText("Nobody gets another value. No traffic was seen yet.").waitFor();

  const there = await silent.environment();
  await seedFlags(there.admin, [{ key: "quiet", type: "boolean" }]);
  const at = `/environments/${there.name}/flags/quiet`;
  const other = await openAs(browser, t, silent.url, [there.keys.admin], at);
  const asked = other.page.waitForResponse((answer) => answer.url().endsWith("/api/v1/preview"));
  await other.page.getByRole("button", { name: "Delete" }).click();
  assert.equal(((await (await asked).json()) as { sample: unknown }).sample, null);
  await inDialog(other.page).waitFor({ state: "detached" });
});

test("a key is created with a limit of its own", async (t) => {
  if (isLeftOut(t)) return;
  const { keys, name } = await server.environment();
  const path = `/environments/${name}/keys`;
  const { page } = await openAs(browser, t, server.url, [keys.admin], path);
  await page.getByRole("button", { name: "Create key" }).click();
  await dialog(page).getByLabel("Name").fill("deploy");
  assert.equal(await dialog(page).getByLabel("Limit on flips").count(), 0);
  await dialog(page)
    .getByLabel(/^editor/)
    .check();
  await dialog(page).getByLabel("Limit on flips").fill("5");
  await dialog(page).getByRole("button", { name: "Create key" }).click();
  await dialog(page).getByRole("button", { name: "I saved the key" }).click();
  await page
    .getByRole("row", { name: /deploy/ })
    .getByText("limit on flips: 5 %")
    .waitFor();
});
