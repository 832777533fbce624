// What people may do, in a real browser: roles that change live, what they did, their own keys, and the end of it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { BrowserContext } from "playwright-core";
import { insertUser } from "../../server/src/features/people/queries.ts";
import { newIds, systemClock } from "../../server/src/operator/operator.ts";
import { goodPassword, newAccount } from "../../server/test/support/accounts.ts";
import { type SignedIn, signInAs, withStore } from "../../server/test/support/people.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { describeAgent } from "../src/account/describe-agent.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { field } from "./support/controls.ts";
import { dialog, notice, stateOf, until } from "./support/flags.ts";
import {
  acceptInvitation,
  choose,
  fillInvitation,
  heading,
  row,
  shownLink,
} from "./support/people.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const enter = (context: BrowserContext, { cookie }: Pick<SignedIn, "cookie">) => {
  const [name = "", value = ""] = cookie.split("=");
  return context.addCookies([{ name, value, url: server.url, httpOnly: true, sameSite: "Strict" }]);
};

test("a viewer becomes an editor while they look, is named in history, and is removed", async (t) => {
  const { name, admin } = await server.environment();
  await admin("POST", "/flags", { key: "checkout", type: "boolean" });
  const owner = await browser.visit(t, server.url, audited);
  await enter(owner.context, await signInAs(server, { name: "Maya", owner: true }));
  await owner.page.goto(`/environments/${name}/people`);
  await fillInvitation(owner.page, {
    ...{ name: "Jun Park", email: "jun@example.com" },
    rights: { [name]: "viewer" },
  });
  await dialog(owner.page).getByRole("button", { name: "Invite" }).click();
  const lost = await shownLink(owner.page);
  await owner.page.getByRole("button", { name: "More for Jun Park" }).click();
  await owner.page.getByRole("menuitem", { name: "New invitation link" }).click();
  await dialog(owner.page).getByText("The link that they have now stops working.").waitFor();
  await dialog(owner.page).getByRole("button", { name: "Make a link" }).click();
  const link = await shownLink(owner.page);

  const { page } = await browser.visit(t, server.url, {
    ...audited,
    secrets: [goodPassword],
    expected: [/401/],
  });
  await page.goto(lost);
  await page.getByText("This invitation cannot be used").waitFor();
  await audit(page, "an invitation that is used up");
  await page.goto(link);
  await page.getByText("Maya has invited you to Halyard").waitFor();
  await page.getByText(`Your role: viewer in ${name}.`).waitFor();
  await acceptInvitation(page, link, goodPassword);
  const toggle = page.getByRole("switch", { name: /checkout/ });
  await page.getByRole("link", { name: "checkout" }).waitFor();
  assert.equal(await toggle.count(), 0, "a viewer only looks");
  assert.equal(await page.getByRole("link", { name: "People", exact: true }).count(), 0);
  await page.getByRole("link", { name: "Keys", exact: true }).click();
  await page.getByRole("heading", { name: "For admins only" }).waitFor();
  await page.goto(`/environments/${name}/people`);
  await page.getByRole("heading", { name: "For owners only" }).waitFor();
  await page.getByRole("link", { name: "Flags", exact: true }).click();

  await owner.page.getByRole("button", { name: "Change Jun Park" }).click();
  await dialog(owner.page).getByLabel(name, { exact: true }).selectOption("editor");
  await audit(owner.page, "changing a person");
  await fitsOn(owner.page, 320);
  await dialog(owner.page).getByRole("button", { name: "Save" }).click();
  await notice(owner.page, "Jun Park").waitFor();
  await row(owner.page, "Jun Park").getByText("editor").waitFor();
  await page.locator(".shell-navigation").waitFor();
  // Without a reload.
  await toggle.waitFor();
  await toggle.press("Space");
  await until(async () => assert.equal((await stateOf(admin, "checkout")).enabled, true));
  await page.getByRole("link", { name: "Webhooks", exact: true }).click();
  await heading(page, "Webhooks").waitFor();
  assert.equal(await page.getByRole("button", { name: "Create webhook" }).count(), 0);

  await choose(page, "Account");
  await page.getByRole("button", { name: "Create personal key" }).click();
  await dialog(page).getByLabel("Name").fill("my laptop");
  assert.deepEqual(
    await dialog(page).getByLabel("Role").locator("option").allTextContents(),
    ["client", "server", "editor"],
    "no more than an editor",
  );
  await audit(page, "creating a personal key");
  await dialog(page).getByRole("button", { name: "Create key" }).click();
  const key = (await dialog(page).getByText(/^hal_/).textContent()) ?? "";
  await dialog(page).getByRole("button", { name: "I saved the key" }).click();
  const keys = page.getByRole("list", { name: "Personal keys" });
  await keys.getByText("my laptop").waitFor();
  await fitsOn(page, 320);
  const personal = server.api(key);
  assert.equal((await personal("PATCH", "/flags/checkout", { enabled: false })).status, 200);

  await owner.page.goto(`/environments/${name}/history`);
  const changes = owner.page.getByRole("list", { name: "Changes" });
  await changes.getByText("(key my laptop)").waitFor();
  await field(owner.page, "Who").fill("jun pa");
  await owner.page.waitForURL(/who=jun/);
  await until(async () =>
    assert.equal(await changes.locator(":scope > li").count(), 3, "with their keys too"),
  );
  assert.equal(await field(owner.page, "Who").inputValue(), "jun pa");
  await owner.page.getByRole("link", { name: "Keys", exact: true }).click();
  await row(owner.page, "my laptop").getByText("personal key of Jun Park").waitFor();

  await owner.page.getByRole("link", { name: "People", exact: true }).click();
  await owner.page.getByRole("button", { name: "More for Jun Park" }).click();
  await owner.page.getByRole("menuitem", { name: "Remove" }).click();
  await dialog(owner.page).getByText("their personal keys stop working").waitFor();
  await audit(owner.page, "removing a person");
  await dialog(owner.page).getByRole("button", { name: "Remove" }).click();
  await page.getByText("Your session has ended").waitFor();
  await page.getByText("your account was removed").waitFor();
  await until(async () => assert.equal((await personal("GET", "/flags")).status, 401));
  await until(async () => assert.equal(await row(owner.page, "Jun Park").count(), 0));
});

test("somebody without a role sees why and has their account, and goes on once they have one", async (t) => {
  const { name } = await server.environment();
  const owner = await signInAs(server, { owner: true });
  const { userId, session } = await newAccount(server, { name: "Bo" });
  const { page, context } = await browser.visit(t, server.url, audited);
  await enter(context, session);
  await page.goto("/");
  await heading(page, "You have no role yet").waitFor();
  await page.getByText("You are signed in as Bo").waitFor();
  await page.getByRole("list", { name: "Sessions" }).getByText("this session").waitFor();
  await page.getByRole("button", { name: "Change password" }).waitFor();
  await audit(page, "no role");
  await fitsOn(page, 320);
  const roles = { [name]: "viewer" };
  const given = await owner.in(name)("PATCH", `/users/${userId}`, { roles });
  assert.equal(given.status, 200, given.text);
  await page.getByRole("button", { name: "Check again" }).click();
  await heading(page, "Flags").waitFor();
  await page.goto("/environments/production/flags");
  await heading(page, "You have no access to production").waitFor();
  await audit(page, "no access");
});

test("a thousand people are searched at once, and shown by the hundred", async (t) => {
  const { name } = await server.environment();
  await withStore(server, (store) =>
    store.transact(async (transaction) => {
      const at = systemClock();
      for (let number = 0; number < 1_000; number += 1) {
        const id = newIds.user();
        const person = { id, name: `Person ${number}`, email: `p${number}@example.com` };
        await insertUser(transaction, { ...person, isOwner: false }, at);
      }
    }),
  );
  const { page, context } = await browser.visit(t, server.url, audited);
  await enter(context, await signInAs(server, { name: "Admiral", owner: true }));
  await page.goto(`/environments/${name}/people`);
  await row(page, "Admiral").waitFor();
  assert.equal(await page.getByRole("row").count(), 101);
  await page.getByRole("button", { name: /^Show more/ }).click();
  await until(async () => assert.equal(await page.getByRole("row").count(), 201));
  await page.getByLabel("Search people").fill("P999@");
  await until(async () => assert.equal(await page.getByRole("row").count(), 2));
  await row(page, "Person 999").waitFor();
  await page.getByLabel("Search people").fill("nobody at all");
  await page.getByText("Nobody matches").first().waitFor();
  await audit(page, "people");
});

test("a browser is told in plain words", () => {
  const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
  const told = [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0`,
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Version/18.0 Safari/605.1.15`,
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${webkit} CriOS/140.0 Mobile Safari/604.1`,
    "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "curl/8.5.0",
    null,
  ].map(describeAgent);
  assert.deepEqual(told, [
    "Edge on Windows",
    "Safari on macOS",
    "Chrome on iPhone",
    "Firefox on Linux",
    "Unknown browser",
    "Unknown browser",
  ]);
});
