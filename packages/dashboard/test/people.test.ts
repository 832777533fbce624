// People in a real browser: the first owner, invitations, passwords, second factors, sessions and fresh sign-ins.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { goodPassword } from "../../server/test/support/accounts.ts";
import { minute, movableClock, second } from "../../server/test/support/movable-clock.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { addressOf, dialog, notice, until } from "./support/flags.ts";
import {
  appOf,
  choose,
  fillInvitation,
  heading,
  passwordIn,
  row,
  shownLink,
} from "./support/people.ts";

const browser = testBrowser();
const clock = movableClock();
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: clock.clock });
});
after(() => server.close());

const email = "maya@example.com";

test("from the printed link to an owner with a second factor, who signs out and in", async (t) => {
  const first = await browser.visit(t, server.url, audited);
  await first.page.goto("/sign-in?failed=denied");
  await first.page.getByText("The provider did not sign you in").waitFor();
  await first.page.getByLabel("API key").waitFor();
  assert.equal(await first.page.getByLabel("E-mail address").count(), 0, "without accounts: a key");
  await first.page.goto(server.dashboardUrl ?? "");
  await heading(first.page, "Flags").waitFor();
  await first.page.getByRole("link", { name: "People", exact: true }).click();
  await first.page.getByText("Nobody has an account yet").waitFor();
  const later = await server.environment();
  await first.page.getByRole("button", { name: "Invite", exact: true }).click();
  await dialog(first.page).getByLabel(later.name, { exact: true }).waitFor();
  await dialog(first.page).getByRole("button", { name: "Cancel" }).click();
  await fillInvitation(first.page, { name: "Maya", email, rights: "owner" });
  await audit(first.page, "inviting somebody");
  await fitsOn(first.page, 320);
  await dialog(first.page).getByRole("button", { name: "Invite" }).click();
  await dialog(first.page).getByText("Halyard sends no e-mail").waitFor();
  await audit(first.page, "the link of an invitation");
  const link = await shownLink(first.page);
  await row(first.page, "Maya").getByText("invited").waitFor();

  const { page, context } = await browser.visit(t, server.url, {
    ...audited,
    secrets: [goodPassword],
    isNew: true,
  });
  await page.clock.install();
  await page.goto(link);
  await heading(page, "Welcome to Halyard").waitFor();
  assert.equal(await page.getByLabel("E-mail address").inputValue(), email);
  await page.getByText("You were invited to Halyard").waitFor();
  await page.getByText("You are an owner").waitFor();
  await page.getByText("At least 10 characters").waitFor();
  await audit(page, "an invitation");
  await fitsOn(page, 320);
  await page.getByLabel("Your name").fill("Maya Lindqvist");
  await passwordIn(page).fill("password123");
  await page.keyboard.press("Enter");
  await page.getByText("It is one that many people use").waitFor();
  await passwordIn(page).fill(goodPassword);
  await page.keyboard.press("Enter");
  await heading(page, "Flags").waitFor();
  assert.doesNotMatch((await addressOf(page)).href, /token/);

  await choose(page, "Account");
  await page.getByText(`Maya Lindqvist, ${email}, owner`).waitFor();
  await page.getByRole("button", { name: "Set up" }).click();
  await dialog(page).getByRole("img", { name: "QR code" }).waitFor();
  await audit(page, "setting up a second factor");
  await fitsOn(page, 320);
  const secret = (await dialog(page).locator("code").textContent()) ?? "";
  const code = appOf(secret, clock.clock);
  await dialog(page).getByRole("textbox", { name: "Code" }).fill("000000");
  await page.keyboard.press("Enter");
  await dialog(page).getByText("The code is wrong").waitFor();
  await dialog(page).getByRole("textbox", { name: "Code" }).fill(code());
  await page.keyboard.press("Enter");
  const codes = dialog(page).getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
  await codes.first().waitFor();
  assert.equal(await codes.count(), 10);
  await audit(page, "recovery codes");
  const recovery = await codes.allTextContents();
  const downloading = page.waitForEvent("download");
  await dialog(page).getByRole("button", { name: "Download" }).click();
  const file = readFileSync(await (await downloading).path(), "utf8");
  assert.ok(recovery.every((each) => file.includes(each)));
  await dialog(page).getByRole("button", { name: "I saved the codes" }).click();
  await page.getByText("Signing in asks for a code").waitFor();
  await page.getByRole("list", { name: "Sessions" }).getByText("this session").waitFor();
  await page.getByText(/^Chrome on Linux$/).waitFor();
  await audit(page, "an account");

  await choose(page, "Sign out");
  await heading(page, "Sign in to Halyard").waitFor();
  assert.deepEqual(await context.cookies(), []);
  await page.goto("/history?actor=Maya");
  await page.getByLabel("E-mail address").fill("MAYA@example.com");
  await passwordIn(page).fill("not the right one");
  await page.keyboard.press("Enter");
  await page.getByText("The e-mail address or the password is wrong.").waitFor();
  await audit(page, "signing in with a password");
  await passwordIn(page).fill(goodPassword);
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Code" }).fill("123456");
  await page.keyboard.press("Enter");
  await page.getByText("The code is wrong").waitFor();
  await audit(page, "the second factor");
  await fitsOn(page, 320);
  clock.forward(30 * second);
  await page.getByRole("textbox", { name: "Code" }).fill(code());
  await page.keyboard.press("Enter");
  await heading(page, "History").waitFor();
  assert.equal((await addressOf(page)).search, "?actor=Maya", "back to where they wanted to go");

  // The first browser goes on with its key, and the page now offers both.
  await first.page.getByRole("button", { name: "Sign out" }).click();
  await first.page.getByLabel("E-mail address").waitFor();
  await first.page.getByRole("button", { name: "Sign in with an API key" }).click();
  await first.page.getByLabel("API key").waitFor();
  await first.page.getByRole("button", { name: "Sign in as a person" }).click();
  await first.page.getByLabel("E-mail address").fill(email);
  await passwordIn(first.page).fill(goodPassword);
  await first.page.keyboard.press("Enter");
  await first.page.getByRole("button", { name: "Use a recovery code" }).click();
  await first.page.getByLabel("Recovery code").fill(recovery[0] ?? "");
  await first.page.keyboard.press("Enter");
  await heading(first.page, "People").waitFor();

  await t.test("what is dangerous asks for a fresh sign-in, and then goes on", async () => {
    await page.getByRole("link", { name: "People", exact: true }).click();
    await row(page, "Maya Lindqvist").getByText("you", { exact: true }).waitFor();
    clock.forward(16 * minute);
    await fillInvitation(page, { name: "Jun", email: "jun@example.com", rights: {} });
    const again = page.getByRole("dialog", { name: "Sign in again" });
    const inviting = page.getByRole("dialog", { name: "Invite a person" });
    await inviting.getByRole("button", { name: "Invite" }).click();
    await passwordIn(again).waitFor();
    await audit(page, "signing in again");
    await fitsOn(page, 320);
    // Longer than a request may take: who thinks it over is not asked a second time.
    await page.clock.fastForward(minute);
    await page.keyboard.press("Escape");
    await again.waitFor({ state: "detached" });
    await inviting.getByText("Nobody was invited").waitFor();
    assert.equal(await inviting.getByLabel("Name").inputValue(), "Jun", "nothing is lost");
    await inviting.getByRole("button", { name: "Invite" }).click();
    await passwordIn(again).fill("not the right one");
    await again.getByRole("textbox", { name: "Code" }).fill(code());
    await page.keyboard.press("Enter");
    await again.getByText("The password is wrong.").waitFor();
    await passwordIn(again).fill(goodPassword);
    await page.keyboard.press("Enter");
    await again.waitFor({ state: "detached" });
    await shownLink(page);
    await row(page, "Jun").waitFor();
  });

  await t.test("sessions are listed and ended, and a new password ends the others", async () => {
    await choose(page, "Account");
    const sessions = page.getByRole("list", { name: "Sessions" }).getByRole("listitem");
    await until(async () => assert.equal(await sessions.count(), 2));
    await page.getByRole("button", { name: "End the session of Chrome on Linux" }).click();
    await until(async () => assert.equal(await sessions.count(), 1));
    await first.page.getByText("Your session has ended").waitFor();
    await first.page.getByText("it was ended on another device").waitFor();

    const other = "another row of plain words";
    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByLabel("Current password").fill("not the right one");
    await page.getByLabel("New password").fill(other);
    await page.keyboard.press("Enter");
    await page.getByText("The password is wrong.").waitFor();
    await audit(page, "changing the password");
    await page.getByLabel("Current password").fill(goodPassword);
    await page.keyboard.press("Enter");
    await notice(page, "Password changed").waitFor();
  });
});
