// The programs of an environment and how far a change has come, in a real browser with real clients of the SDK.
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { signInAs } from "../../server/test/support/people.ts";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { addressOf, dialog, notice, openAs, seedFlags, until } from "./support/flags.ts";
import { openAsPerson } from "./support/people.ts";
import { startProgram } from "./support/programs.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const start = async (t: TestContext, { keys }: TestEnvironment, name: string) => {
  const program = await startProgram(server.url, keys.server, name);
  t.after(() => program.close());
  return program;
};

const rowOf = (page: Page, name: string): Locator =>
  page.getByRole("main").getByRole("listitem").filter({ hasText: name });
const line = (page: Page): Locator => page.locator(".arrival");

test("the page lists instances and programs, keeps them current and finds them", async (t) => {
  const environment = await server.environment();
  const { keys, admin } = environment;
  await seedFlags(admin, [{ key: "checkout", type: "boolean" }]);
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags", audited);
  await page.getByRole("link", { name: "Programs" }).click();
  await page.getByRole("heading", { name: "No programs yet" }).waitFor();
  await page.getByText("createClient").waitFor();
  await audit(page, "no programs");

  await start(t, environment, "checkout-1");
  const slow = await start(t, environment, "billing-1");
  await rowOf(page, "checkout-1").getByText("current").waitFor();
  await rowOf(page, "billing-1").getByText("js/").waitFor();
  assert.equal(await page.getByText("No programs yet").count(), 0);
  await page.getByText(/^2 of 2 programs have revision 1/).waitFor();

  slow.holdUp();
  await admin("PATCH", "/flags/checkout", { enabled: true });
  await rowOf(page, "billing-1").getByText("behind", { exact: true }).waitFor();
  await rowOf(page, "billing-1").getByText("revision 1, 1 behind").waitFor();
  await rowOf(page, "checkout-1").getByText("revision 2").waitFor();
  await page.getByText(/^1 of 2 programs have revision 2/).waitFor();
  const programs = page.getByRole("list", { name: "Programs" });
  assert.match((await programs.getByRole("listitem").first().textContent()) ?? "", /^billing-1/);
  await audit(page, "programs, one of them behind");
  for (const width of [320, 390, 768]) await fitsOn(page, width);

  await page.getByLabel("State").selectOption("behind");
  await page.getByText("1 of 3 match", { exact: true }).waitFor();
  await rowOf(page, "checkout-1").waitFor({ state: "detached" });
  slow.goOn();
  await page.getByRole("heading", { name: "No programs match" }).waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await rowOf(page, "billing-1").getByText("current").waitFor();

  // Many: only those in view are in the page, and each is found.
  const many = 150;
  const authorization = `Bearer ${keys.server}`;
  for (let number = 0; number < many; number += 1) {
    const headers = { authorization, "x-halyard-client": `polling-${number}` };
    await (await fetch(`${server.url}/api/v1/snapshot`, { headers })).text();
  }
  await page.getByText(new RegExp(`of ${many + 2} programs have`)).waitFor();
  assert.ok((await programs.getByRole("listitem").count()) < 60, "rows that nobody sees");
  await page.keyboard.press("/");
  await page.keyboard.type("JS/ check");
  await until(async () => assert.equal(await programs.getByRole("listitem").count(), 1));
  assert.equal((await addressOf(page)).searchParams.get("q"), "JS/ check");

  await page.setViewportSize({ width: 390, height: 800 });
  assert.equal(await page.getByRole("link", { name: "Programs" }).isVisible(), false);
  await page.goto("/flags");
  await page.getByRole("button", { name: /^Environment/ }).click();
  await page.getByRole("menuitem", { name: "Programs" }).click();
  await page.getByRole("heading", { name: "Programs", level: 1 }).waitFor();
});

test("after a change the page says how many programs have it, and who does not", async (t) => {
  const environment = await server.environment();
  const { name, admin } = environment;
  await seedFlags(admin, [
    { key: "one", type: "boolean" },
    { key: "two", type: "boolean" },
  ]);
  const at = `/environments/${name}`;
  const ada = await signInAs(server, { name: "Ada", roles: { [name]: "editor" } });
  const { page } = await openAsPerson(browser, t, server.url, ada, `${at}/flags`, audited);
  await page.clock.install();
  await page.reload();
  await page.getByRole("link", { name: "two" }).waitFor();
  let asked = 0;
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === "/api/v1/clients") asked += 1;
  });
  const toggle = (key: string) =>
    page.getByRole("switch", { name: `${key} is on` }).click({ force: true });
  const hide = (isHidden: boolean) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, isHidden);
  const haveAll = () =>
    until(async () => {
      const { reached } = (await admin("GET", "/clients")).body as {
        reached: { of: number; have: number };
      };
      assert.equal(reached.have, reached.of);
    });

  // Nobody is connected: one question, and not a word.
  const answered = page.waitForResponse("**/api/v1/clients");
  await toggle("one");
  await (await answered).finished();
  await notice(page, "one").getByText("Now on for everyone.").waitFor();
  assert.deepEqual([asked, await line(page).count()], [1, 0]);

  const slow = await start(t, environment, "billing-1");
  await start(t, environment, "checkout-1");
  await toggle("one");
  await line(page)
    .getByText(/^Reached 2 of 2 programs in [\d.]+\sm?s$/)
    .waitFor();

  slow.holdUp();
  await toggle("one");
  await line(page).getByText("Reached 1 of 2 programs…").waitFor();
  // The next action is not held up, and the newest revision counts.
  await toggle("two");
  await notice(page, "two").waitFor();
  await page.clock.fastForward(4_000);
  await line(page).getByText("Not yet: billing-1.").waitFor();
  await audit(page, "a program that lags");
  await fitsOn(page, 390);
  await page.waitForResponse("**/api/v1/clients");
  await hide(true);
  const soFar = asked;
  await page.clock.fastForward(10_000);
  slow.goOn();
  await haveAll();
  assert.equal(asked, soFar, "a page that nobody sees asks");
  await hide(false);
  await line(page).getByText("Reached 2 of 2 programs in").waitFor();

  // Several flags at once.
  slow.holdUp();
  for (const key of ["one", "two"]) await page.getByLabel(`Select ${key}`).check();
  await page
    .getByRole("region", { name: "Selected flags" })
    .getByRole("button", { name: "Turn off" })
    .click();
  await dialog(page)
    .getByRole("button", { name: /^Turn off/ })
    .click();
  await line(page).getByText("Reached 1 of 2 programs…").waitFor();
  await page.clock.fastForward(4_000);
  await line(page).getByRole("link", { name: "Show programs" }).click();
  await rowOf(page, "billing-1").getByText("behind", { exact: true }).waitFor();
  assert.equal(await line(page).count(), 0);
  slow.goOn();
  await rowOf(page, "billing-1").getByText("current").waitFor();

  // A change request that is applied.
  const { body } = await admin("POST", "/change-requests", {
    operations: [{ kind: "flag", key: "one", action: "patch", body: { enabled: true } }],
  });
  await page.goto(`${at}/change-requests/${(body as { id: string }).id}`);
  await page.getByRole("button", { name: "Approve" }).click();
  await line(page).getByText("Reached 2 of 2 programs in").waitFor();
});
