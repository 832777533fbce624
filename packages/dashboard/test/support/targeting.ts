// Rules on the page of a flag.
import type { Locator, Page } from "playwright-core";

export const planIs = (value: string) => ({ attribute: "plan", op: "in", values: [value] });
export const ruleFor = (id: string) => ({ id, when: planIs(id), serve: "on" });

export const rule = (page: Page, id: string): Locator =>
  page
    .getByRole("listitem")
    .filter({ has: page.getByRole("button", { name: `More for rule ${id}` }) });

export const save = async (page: Page): Promise<void> => {
  // A notification may lie over it, and a preview that comes or goes above it moves it.
  await page.getByRole("button", { name: "Save targeting" }).press("Enter");
  await page.getByText("What saving changes").waitFor({ state: "detached" });
};
