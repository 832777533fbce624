// Keys on their page.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { dialog } from "./flags.ts";

export const keyRow = (page: Page, name: string) =>
  page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: false }) });

export const createKey = async (page: Page, name: string, role: RegExp): Promise<string> => {
  await page.getByRole("button", { name: "Create key" }).first().click();
  await dialog(page).getByLabel("Name").fill(name);
  await dialog(page).getByRole("radio", { name: role }).check();
  await dialog(page).getByRole("button", { name: "Create key" }).click();
  await dialog(page).getByText("Shown only once").waitFor();
  // Not even by mistake.
  await page.keyboard.press("Escape");
  assert.equal(await dialog(page).getByRole("button", { name: "Close" }).count(), 0);
  const text = (await dialog(page).getByText(/^hal_/).textContent()) ?? "";
  await dialog(page).getByText(`export HALYARD_API_KEY=${text}`).waitFor();
  await dialog(page).getByRole("button", { name: "I saved the key" }).click();
  await dialog(page).waitFor({ state: "detached" });
  return text;
};
