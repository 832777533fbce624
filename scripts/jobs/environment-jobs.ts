// Jobs that look across environments and time: compare and copy, who changed it, restore, explain.
import assert from "node:assert/strict";
import { named } from "./data.ts";
import { goTo, openFlag } from "./flag-jobs.ts";
import type { Job } from "./job.ts";

const compareAndCopy: Job = {
  name: "compare and copy environments",
  environment: "development",
  async work(person) {
    const { page } = person;
    const differing = page.getByRole("checkbox", { name: "Only what differs" });
    const row = page.getByRole("row").filter({ hasText: named.copied });
    await person.press("Alt+3", page.getByRole("table"));
    await person.click(differing, row);
    const dialog = page.getByRole("dialog");
    const copy = dialog.getByRole("button", { name: "Copy to production…" });
    await person.click(row.getByRole("button", { name: /^production/ }), copy);
    const typed = dialog.getByLabel("Type production to confirm");
    await person.click(copy, typed);
    await person.click(typed, typed.and(page.locator(":focus")));
    await person.type("production", dialog.getByRole("button", { name: "Copy 1 flag" }));
    const told = page.getByRole("alert").filter({ hasText: "Copied from development" });
    await person.press("Enter", told);
  },
  async check({ server, keys }) {
    const flag = await server.api(keys.production)("GET", `/flags/${named.copied}`);
    assert.partialDeepStrictEqual(flag.body, { enabled: true });
  },
};

const whoChanged: Job = {
  name: "who changed it",
  environment: "production",
  async work(person) {
    const { page } = person;
    await openFlag(person, named.changed);
    const maya = page.getByRole("listitem").filter({ hasText: "Maya" });
    const older = page.getByRole("button", { name: /older/i }).first();
    await older.waitFor();
    while ((await maya.count()) === 0) {
      const shown = await page.locator(".history-entry").count();
      await person.click(older, page.locator(".history-entry").nth(shown));
    }
  },
};

const restoreDeleted: Job = {
  name: "restore a deleted flag",
  environment: "production",
  async work(person) {
    const { page } = person;
    const restore = page.getByRole("button", { name: `Restore: ${named.deleted}` });
    const confirm = page.getByRole("dialog").getByRole("button", { name: "Create flag" });
    await person.click(page.getByRole("link", { name: "Deleted flags" }), restore);
    await person.click(restore, confirm);
    await person.press("Enter", page.getByRole("alert").filter({ hasText: named.deleted }));
  },
  async check({ server, keys }) {
    const flag = await server.api(keys.production)("GET", `/flags/${named.deleted}`);
    assert.equal(flag.status, 200);
  },
};

const explain: Job = {
  name: "explain a user's value",
  environment: "production",
  async work(person) {
    const { page } = person;
    const tryIt = page.getByRole("region", { name: "Try it" });
    const focused = page.locator(":focus");
    await goTo(person, "recom carousel v2", named.explained);
    const user = tryIt.getByLabel("targetingKey");
    await person.click(user, user.and(focused));
    await person.type("user-4711");
    // Both rules' attributes have rows: past the name, the kind and the button that removes it.
    const value = (index: number) => tryIt.getByLabel(`Value of row ${index + 1}`, { exact: true });
    await person.press("Tab Tab Tab", value(0).and(focused));
    await person.type("CH");
    await person.press("Tab Tab Tab Tab", value(1).and(focused));
    await person.type("pro");
    await person.press("Enter", tryIt.getByText(/country is DE, FR or NL \(found "CH"\)/).last());
  },
};

export const environmentJobs: readonly Job[] = [compareAndCopy, whoChanged, restoreDeleted];
export const explainJobs: readonly Job[] = [explain];
