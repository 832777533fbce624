// A page that a person has signed in to, without the page that they sign in with.
import type { TestContext } from "node:test";
import type { SignedIn } from "../../../server/test/support/people.ts";
import type { TestBrowser, Visit, VisitOptions } from "./browser.ts";

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
  await visit.page.locator("#root:not([inert])").waitFor({ state: "attached" });
  return visit;
};
