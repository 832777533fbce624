// The people of a protected environment, and proposing on the page.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { signInAs } from "../../../server/test/support/people.ts";
import type { TestServer } from "../../../server/test/support/server.ts";
import { addressOf, dialog, notice } from "./flags.ts";

/** An environment with Ada and Bo, who edit, and Olga, who owns. */
export const withPeople = async (server: TestServer) => {
  const environment = await server.environment();
  const roles = { [environment.name]: "editor" } as const;
  const [ada, bo, olga] = await Promise.all([
    signInAs(server, { name: "Ada", roles }),
    signInAs(server, { name: "Bo", roles }),
    signInAs(server, { name: "Olga", owner: true }),
  ]);
  const protect = async () => {
    const path = `/environments/${environment.name}`;
    const done = await olga.in(environment.name)("PATCH", path, { protected: true });
    assert.equal(done.status, 200, done.text);
  };
  return { environment, at: `/environments/${environment.name}`, ada, bo, olga, protect };
};

/** Confirms what was asked, and opens the request that was made. */
export const propose = async (page: Page, reason: string): Promise<string> => {
  await dialog(page).getByText("nothing changes until somebody else approves it").waitFor();
  await dialog(page)
    .getByLabel(/^Why\?/)
    .fill(reason);
  await dialog(page).getByRole("button", { name: "Propose" }).press("Enter");
  await notice(page, "Proposed").getByRole("link", { name: "Show the request" }).click();
  await page.getByText(`“${reason}”`).waitFor();
  return (await addressOf(page)).pathname.split("/").at(-1) ?? "";
};
