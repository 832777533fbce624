// What the tests of people have in common: who visits, and the steps that every journey has.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Locator, Page } from "playwright-core";
import { codeAt, stepAt } from "../../../server/src/features/people/sign-in/totp.ts";
import type { SignedIn } from "../../../server/test/support/people.ts";
import { fromBase32 } from "../../../server/test/support/second-factor.ts";
import type { TestBrowser, Visit, VisitOptions } from "./browser.ts";
import { dialog } from "./flags.ts";

export const heading = (page: Page, name: string | RegExp): Locator =>
  page.getByRole("heading", { name, level: 1 });

export const row = (page: Page, name: string): Locator =>
  page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: false }) });

/** Opens the menu of the person who is signed in, and chooses. */
export const choose = async (page: Page, item: "Account" | "Sign out"): Promise<void> => {
  await page.getByRole("button", { name: /^Signed in as/ }).click();
  await page.getByRole("menuitem", { name: item }).click();
};

interface Invited {
  readonly name: string;
  readonly email: string;
  /** By the name of the environment, or the owner of all. */
  readonly rights: "owner" | Readonly<Record<string, string>>;
}

/** The only one that is asked for. */
export const passwordIn = (place: Page | Locator): Locator =>
  place.locator('input[autocomplete$="-password"]');

/** Until the dialog is sent. */
export const fillInvitation = async (
  page: Page,
  { name, email, rights }: Invited,
): Promise<void> => {
  await page.getByRole("button", { name: "Invite", exact: true }).first().click();
  await dialog(page).getByLabel("Name").fill(name);
  await dialog(page).getByLabel("E-mail address").fill(email);
  if (rights === "owner") await dialog(page).getByLabel("Owner").check();
  else {
    for (const [environment, role] of Object.entries(rights)) {
      await dialog(page).getByLabel(environment, { exact: true }).selectOption(role);
    }
  }
};

/** The link that is shown once. */
export const shownLink = async (page: Page): Promise<string> => {
  await dialog(page).getByText("Shown only once").waitFor();
  const link = (await dialog(page).locator("code").textContent()) ?? "";
  assert.match(link, /\/invitation\?token=[\w-]{20,}$/);
  await dialog(page).getByRole("button", { name: "Done" }).click();
  await dialog(page).waitFor({ state: "detached" });
  return link;
};

export const acceptInvitation = async (
  page: Page,
  link: string,
  password: string,
): Promise<void> => {
  await page.goto(link);
  await heading(page, "Welcome to Halyard").waitFor();
  await passwordIn(page).fill(password);
  await page.getByRole("button", { name: "Accept the invitation" }).click();
  await heading(page, "Flags").waitFor();
};

/** As an authenticator app has it. */
export const appOf = (secret: string, clock: () => Date) => (): string =>
  codeAt(fromBase32(secret.replaceAll(" ", "")), stepAt(clock()));

/** A page that a person has signed in to, without the page that they sign in with. */
export const openAsPerson = async (
  browser: TestBrowser,
  t: TestContext,
  url: string,
  { cookie }: Pick<SignedIn, "cookie">,
  path: string,
  options: VisitOptions = {},
): Promise<Visit> => {
  const visit = await browser.visit(t, url, options);
  const [name = "", value = ""] = cookie.split("=");
  await visit.context.addCookies([{ name, value, url, httpOnly: true, sameSite: "Strict" }]);
  await visit.page.goto(path);
  await visit.page.getByRole("status").getByText("Live", { exact: true }).waitFor();
  return visit;
};
