// Previews in detail: segments, requests, no traffic, limits of keys.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type SignedIn, signInAs } from "../../server/test/support/people.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, notice, openAs, seedFlags, stateOf, until } from "./support/flags.ts";
import { flips, inDialog, limit, says, seedProduction, visit } from "./support/flips.ts";
import { openAsPerson } from "./support/people.ts";

const browser = testBrowser();
let server: TestServer;
/** It keeps no sample. */
let silent: TestServer;
let olga: SignedIn;

before(async () => {
  server = await startTestServer();
  silent = await startTestServer({ HALYARD_CONTEXT_SAMPLE: "0" });
  await seedProduction(server);
  olga = await signInAs(server, { name: "Olga", owner: true });
});
after(() => Promise.all([server.close(), silent.close()]));

test("a segment's people, and those that review a request, see whom it changes", async (t) => {
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
  await says(inDialog(page), /^Of 40 people seen since .*, about 5% \(.*\) change from off/);
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
  // An editor may not see the contexts, and gets counts with noise and no examples.
  await says(flips(review.page), /^All people change from off to on: about \d+ of about \d+ seen/);
  assert.equal(
    await flips(review.page)
      .getByText(/^Examples/)
      .count(),
    0,
  );
  await audit(review.page, "a request with its preview");
});

test("without traffic the page says so, and where nothing is sampled it says nothing", async (t) => {
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
    .getByText("limit on flips: 5%")
    .waitFor();
});

test("when the previews of an hour are used up, a change with a limit is confirmed without a percentage", async (t) => {
  const { admin, server: reader, name } = await server.environment();
  await seedFlags(admin, [{ key: "search", type: "boolean" }]);
  await visit(reader);
  await limit(await signInAs(server, { name: "Olga", owner: true }), name, 20);
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
