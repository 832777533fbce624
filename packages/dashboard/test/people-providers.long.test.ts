// Signing in with a provider in a real browser: there and back, again in a window of its own, and out of both.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  type IdentityProvider,
  startIdentityProvider,
} from "../../server/test/support/identity-provider.ts";
import { minute, movableClock } from "../../server/test/support/movable-clock.ts";
import { signInAs } from "../../server/test/support/people.ts";
import { type SingleSignOn, startSingleSignOn } from "../../server/test/support/single-sign-on.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { addressOf, dialog } from "./support/flags.ts";
import { choose, heading } from "./support/people.ts";

const browser = testBrowser();
const clock = movableClock();
let provider: IdentityProvider;
let server: SingleSignOn;
before(async () => {
  provider = await startIdentityProvider();
  const groups = { staff: { roles: { production: "editor" } } };
  server = await startSingleSignOn(
    { acme: provider },
    { acme: { groups } },
    { clock: clock.clock },
  );
  provider.people.set("ada", { name: "Ada", email: "ada@example.com", groups: ["staff"] });
});
after(() => Promise.all([server, provider].map((each) => each.close())));

/** Every step of the provider has one button. */
const agree = async (page: Page): Promise<void> => {
  const button = page.getByRole("button", { name: /^(Continue|Yes, sign me out)$/ });
  while (new URL(page.url()).origin === provider.issuer) {
    const before = page.url();
    await button.click();
    await page.waitForURL((url) => url.href !== before);
  }
};

test("somebody who was invited accepts with a provider, and is who was invited", async (t) => {
  const owner = (await signInAs(server, { name: "Olga", owner: true })).in("production");
  const wanted = { name: "Grace", email: "grace@example.com", roles: { development: "viewer" } };
  const invited = await owner("POST", "/users", wanted);
  const { url } = (invited.body as { invitation: { url: string } }).invitation;
  provider.people.set("grace", { name: "Grace Hopper" });
  provider.visitor = "grace";
  const { page } = await browser.visit(t, server.url, {
    expected: [/^a request elsewhere/, new RegExp(provider.issuer)],
  });
  await page.goto(url);
  await page.getByText("Olga has invited you to Halyard").waitFor();
  await page.getByRole("link", { name: "Continue with The acme" }).click();
  await agree(page);
  await heading(page, "Flags").waitFor();
  await page.getByRole("button", { name: "Environment: development" }).waitFor();
  await choose(page, "Account");
  await page.getByText("Grace, grace@example.com").waitFor();
  await page.getByText("You have none: you sign in with a provider.").waitFor();
});

test("somebody comes in with a provider, proves it again in another window, and leaves both", async (t) => {
  const { page, context } = await browser.visit(t, server.url, {
    ...audited,
    // The provider is another server, whose page for signing out wants a font from yet another.
    expected: [/^a request elsewhere/, new RegExp(provider.issuer), /ERR_NAME_NOT_RESOLVED/],
  });
  const wanted = "/environments/production/history?kind=flag";
  await page.goto(wanted);
  await page.getByRole("link", { name: "Continue with The acme" }).waitFor();
  assert.equal(await page.getByLabel("E-mail address").count(), 0, "nobody has a password");
  await audit(page, "signing in with a provider");
  await fitsOn(page, 320);
  provider.visitor = null;
  await page.getByRole("link", { name: "Continue with The acme" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("The provider did not sign you in").waitFor();

  provider.visitor = "ada";
  await page.goto(wanted);
  await page.getByRole("link", { name: "Continue with The acme" }).click();
  await agree(page);
  await heading(page, "History").waitFor();
  assert.equal(
    (await addressOf(page)).href,
    server.url + wanted,
    "back to where they wanted to go",
  );

  await choose(page, "Account");
  await page.getByText("You have none: you sign in with a provider.").waitFor();
  clock.forward(16 * minute);
  await page.getByRole("button", { name: "Create personal key" }).click();
  await dialog(page).getByLabel("Name").fill("my laptop");
  await dialog(page).getByRole("button", { name: "Create key" }).click();
  const again = page.getByRole("dialog", { name: "Sign in again" });
  const opening = context.waitForEvent("page");
  await again.getByRole("link", { name: "Continue with The acme" }).click();
  const opened = await opening;
  await opened.getByRole("button", { name: "Continue" }).waitFor();
  await agree(opened).catch((error: unknown) => {
    // It closes itself at the end.
    if (!opened.isClosed()) throw error;
  });
  await dialog(page).getByText("Shown only once").waitFor();
  await dialog(page).getByRole("button", { name: "I saved the key" }).click();
  await page.getByRole("list", { name: "Personal keys" }).getByText("my laptop").waitFor();

  await choose(page, "Sign out");
  await page.waitForURL((url) => url.origin === provider.issuer);
  await agree(page);
  await heading(page, "Sign in to Halyard").waitFor();
});
