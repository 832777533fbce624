// Environments side by side, and copying between them: previewed, carried out and undone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Flag } from "@halyard/core/flags/registry";
import { planChanges } from "@halyard/core/plan/plan";
import type { Segment } from "@halyard/core/targeting/segment";
import type { Locator, Page } from "playwright-core";
import type { Api } from "../../server/test/support/api.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, lineOf, notice, openAs, seedFlags, stateOf, until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const productionKey = (): string => {
  const found = server.firstKeys.find(({ environment }) => environment === "production");
  assert.ok(found);
  return found.text;
};

const listsAt = async (api: Api) => {
  const snapshot = (await api("GET", "/snapshot")).body as {
    flags: { flag: Flag }[];
    segments?: { segment: Segment }[];
  };
  return {
    flags: snapshot.flags.map(({ flag }) => flag),
    segments: (snapshot.segments ?? []).map(({ segment }) => segment),
  };
};

const rowOf = (page: Page, key: string): Locator =>
  page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: key, exact: false }) });

const textOf = async (place: Locator): Promise<string> => (await place.textContent()) ?? "";

const keysShown = async (page: Page): Promise<readonly string[]> =>
  (await page.getByRole("rowheader").allTextContents()).map((text) =>
    text.replace(/^Select (.*)\1$/, "$1"),
  );

const isFocused = async (place: Locator): Promise<void> => {
  await place.and(place.page().locator(":focus")).waitFor();
};

const isSideways = (page: Page): Promise<unknown> =>
  page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");

/** Flags that differ in every way between two environments. */
const seedBoth = async (staging: Api, production: Api): Promise<void> => {
  const onBeta = [{ id: "beta", when: { segment: ["beta"] }, serve: "on" }];
  await staging("POST", "/segments", { key: "beta", include: ["ann", "bob"] });
  await staging("POST", "/segments", { key: "staff", include: ["ann"] });
  await production("POST", "/segments", { key: "staff", include: ["ann", "eve"] });
  await seedFlags(staging, [
    { key: "checkout", type: "rollout", percentage: 25, enabled: true },
    { key: "same", type: "boolean", description: "The same in both" },
    { key: "shape", type: "boolean" },
    { key: "base", type: "boolean" },
  ]);
  await staging("POST", "/flags", {
    key: "fresh",
    type: "boolean",
    rules: onBeta,
    otherwise: "off",
  });
  await staging("PATCH", "/flags/fresh", { enabled: true });
  const requires = [{ flag: "base", variant: "on" }];
  await staging("POST", "/flags", { key: "needy", type: "boolean", requires });
  await seedFlags(production, [
    { key: "checkout", type: "rollout", percentage: 5 },
    { key: "same", type: "boolean", description: "The same in both" },
    { key: "shape", type: "rollout", percentage: 10 },
  ]);
};

test("environments side by side: what differs is what the command line says, and is copied with a preview", async (t) => {
  const staging = await server.environment();
  const reader = await server.environment();
  const production = server.api(productionKey());
  await seedBoth(staging.admin, production);
  const { page } = await openAs(
    browser,
    t,
    server.url,
    [staging.keys.admin, productionKey(), reader.keys.server],
    `/environments/${staging.name}/compare`,
    audited,
  );
  const cell = (key: string, name: string) =>
    rowOf(page, key).getByRole("button", { name: new RegExp(`^${name}:`) });
  await cell("checkout", "production").waitFor();
  assert.match(await textOf(cell("checkout", staging.name)), /On 25%$/);
  assert.match(await textOf(cell("checkout", "production")), /Off 5%differs from/);
  assert.match(await textOf(cell("fresh", staging.name)), /On else off1 rule/);
  assert.match(await textOf(cell("fresh", "production")), /not there/);
  assert.doesNotMatch(await textOf(cell("same", "production")), /differs/);
  await audit(page, "the matrix");

  await page.getByLabel("Only what differs").check();
  await page.getByLabel("Differs in").selectOption("production");
  const [there, here] = [await listsAt(staging.admin), await listsAt(production)];
  const { changes } = planChanges(here, there, { prune: true });
  const differing = (of: string) =>
    changes.filter((change) => change.of === of).map(({ key }) => key);
  await until(async () => assert.deepEqual(await keysShown(page), differing("flag")));
  await page.getByRole("radiogroup", { name: "What to compare" }).getByText("Segments").click();
  await until(async () => assert.deepEqual(await keysShown(page), differing("segment")));
  await page.getByRole("radiogroup", { name: "What to compare" }).getByText("Flags").click();

  await t.test("one flag, from its difference, and back", async () => {
    await cell("checkout", "production").press("Enter");
    const panel = dialog(page);
    await panel.getByText(`What copying it from ${staging.name} would change`).waitFor();
    await panel.getByText("25%").waitFor();
    await audit(page, "a difference");
    await panel.getByRole("button", { name: "Copy to production…" }).click();
    await lineOf(page, "checkout").getByText("changed").waitFor();
    await page.keyboard.press("Escape");
    await isFocused(cell("checkout", "production"));
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await isFocused(cell("checkout", "production"));
    await page.keyboard.press("Enter");
    await panel.getByRole("button", { name: "Copy to production…" }).click();
    const copy = panel.getByRole("button", { name: "Copy 1 flag" });
    assert.equal(await copy.isDisabled(), true);
    await audit(page, "a plan");
    await panel.getByLabel("Type production to confirm").fill("production");
    await panel.getByLabel("Why?").fill("ready for everyone");
    await copy.click();
    const done = notice(page, `Copied from ${staging.name} to production`);
    await done.getByText("1 changed.").waitFor();
    assert.partialDeepStrictEqual(await stateOf(production, "checkout"), {
      percentage: 25,
      enabled: true,
    });
    const [last] = (await production("GET", "/flags/checkout/history")).body as {
      reason: string;
    }[];
    assert.equal(last?.reason, "ready for everyone");
    await until(async () => assert.ok(!(await keysShown(page)).includes("checkout")));
    await done.getByRole("button", { name: "Undo" }).click();
    await notice(page, "Undone in production").waitFor();
    assert.partialDeepStrictEqual(await stateOf(production, "checkout"), {
      percentage: 5,
      enabled: false,
    });
  });

  await t.test("a flag whose requirement is missing there cannot be copied alone", async () => {
    await page.getByLabel("Select needy").check();
    await page.getByRole("button", { name: /^Copy from/ }).click();
    await lineOf(page, "needy").getByText("It requires base, a flag that is not in").waitFor();
    assert.deepEqual(
      await dialog(page).getByLabel("To", { exact: true }).count(),
      0,
      "an environment with a server key is no target",
    );
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
  });

  await t.test("many at once: a part of their members, a conflict, and back", async () => {
    await page.getByRole("button", { name: "Select all 5" }).click();
    await page.getByRole("button", { name: /^Copy from/ }).click();
    const plan = dialog(page);
    await lineOf(page, "shape").getByText("fixed at creation").waitFor();
    await lineOf(page, "beta").getByText("new").waitFor();
    await plan.getByText("4 to create").waitFor();
    await plan.getByText("What to copy: everything").click();
    await plan.getByRole("checkbox", { name: "enabled" }).uncheck();
    assert.doesNotMatch(await textOf(lineOf(page, "fresh")), /enabledon/);
    await production("PATCH", "/flags/checkout", { description: "meanwhile" });
    await plan.getByLabel("Type production to confirm").fill("production");
    await plan.getByRole("button", { name: /^Copy 4 flags and 1 segment/ }).click();
    const ended = page.getByRole("dialog", { name: /not everything was done/ });
    await ended.getByText(/was changed meanwhile by admin/).waitFor();
    await ended.getByText("Done: 4 created. Not done: 1.").waitFor();
    await audit(page, "what was not done");
    assert.partialDeepStrictEqual(await stateOf(production, "fresh"), {
      enabled: false,
      rules: [{ id: "beta" }],
    });
    assert.partialDeepStrictEqual(await stateOf(production, "checkout"), { percentage: 5 });
    await ended.getByRole("button", { name: "Undo what was done" }).click();
    await notice(page, "Undone in production").getByText("4 deleted.").waitFor();
    assert.deepEqual(
      (await listsAt(production)).flags.map(({ key }) => key),
      ["checkout", "same", "shape"],
    );
    assert.equal((await production("GET", "/segments/beta")).status, 404);
  });

  await t.test("from the list of flags to another environment", async () => {
    await page.getByRole("link", { name: "Flags", exact: true }).click();
    await page.getByLabel("Select same").check();
    await page.getByRole("button", { name: "Copy to…" }).click();
    const plan = page.getByRole("dialog", {
      name: `Copy 1 flag from ${staging.name} to production`,
    });
    await plan.getByText("Nothing to change, 1 already the same.").waitFor();
    await plan.getByRole("button", { name: "Cancel" }).click();
    // Not what the comparison read before: somebody else has changed both environments since.
    await staging.admin("PATCH", "/flags/same", { description: "Newer" });
    await production("PATCH", "/flags/same", { enabled: true });
    await page.getByText("Newer").waitFor();
    const held = Promise.withResolvers<void>();
    await page.route("**/api/v1/snapshot", async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.getByRole("button", { name: "Copy to…" }).click();
    await plan.getByText(`Reading ${staging.name} and production…`).waitFor();
    assert.equal(await lineOf(page, "same").count(), 0);
    held.resolve();
    const line = lineOf(page, "same");
    await line.getByText("Newer").waitFor();
    assert.match(await textOf(line), /enabledon → off/);
    await page.unroute("**/api/v1/snapshot");
    await plan.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByLabel("Only what differs").check();
  });

  await t.test("on a phone two environments are chosen, and nothing scrolls sideways", async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    await page.getByLabel("Compare with").selectOption("production");
    await page.getByLabel("Environment", { exact: true }).selectOption(staging.name);
    await cell("checkout", staging.name).waitFor();
    assert.equal(await rowOf(page, "checkout").getByRole("button").count(), 2);
    assert.equal(await isSideways(page), false);
    await cell("checkout", staging.name).click();
    await dialog(page).getByText("What copying it from production").waitFor();
    assert.equal(await isSideways(page), false);
  });
});

test("with one environment the page says how to get a second; a server key selects nothing", async (t) => {
  const { keys, name, admin } = await server.environment();
  await seedFlags(admin, [{ key: "alone", type: "boolean" }]);
  const address = `/environments/${name}/compare`;
  const { page } = await openAs(browser, t, server.url, [keys.server], address);
  await page.getByRole("heading", { name: "There is only one environment to show" }).waitFor();
  const link = page.getByRole("link", { name: "Sign in to another environment" });
  assert.match((await link.getAttribute("href")) ?? "", /\/sign-in\?add=1/);
  await page.getByRole("link", { name: "Flags", exact: true }).click();
  await page.getByRole("link", { name: "alone" }).waitFor();
  assert.equal(await page.getByLabel("Select alone").count(), 0);
  await page.waitForURL(new RegExp(`/environments/${name}/flags`));
});

test("one environment at two times, without another to compare with", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [
    { key: "changed", type: "boolean" },
    { key: "deleted", type: "boolean" },
  ]);
  const then = new Date().toISOString();
  await until(async () => assert.ok(new Date().toISOString() > then));
  await admin("PATCH", "/flags/changed", { enabled: true });
  await admin("DELETE", "/flags/deleted");
  await admin("POST", "/segments", { key: "later", include: ["ann"] });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/compare", {
    ...audited,
    expected: [/409 \(Conflict\)/],
  });
  await page.getByRole("radiogroup", { name: "Compare" }).getByText("Two times").click();
  // A day ago, which is where it begins, the environment was not there.
  await page.locator(".empty-state", { hasText: "was not there yet at" }).waitFor();
  const zone = (await page.evaluate("new Date().getTimezoneOffset() * 60000")) as number;
  const local = new Date(Date.parse(then) - zone).toISOString().slice(0, 23);
  await page.getByLabel("From, in your time zone").fill(local);
  await page.getByText(/2 flags changed in/).waitFor();
  assert.deepEqual(await keysShown(page), ["changed", "deleted"]);
  assert.match(await textOf(rowOf(page, "deleted")), /before: Off.*after: not there/);
  await audit(page, "two times");
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(await isSideways(page), false);
  await rowOf(page, "changed").getByRole("button").first().click();
  const opened = page.getByRole("dialog", { name: "changed at two times" });
  await opened.getByText("What has changed:").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("radiogroup", { name: "What to compare" }).getByText("Segments").click();
  await page.getByText(/1 segment changed in/).waitFor();
});
