// Jobs that look across environments and time: compare and copy, who changed it, restore, explain.
import assert from "node:assert/strict";
import { named } from "./data.ts";
import { openFlag } from "./flag-jobs.ts";
import type { Job } from "./job.ts";

const compareAndCopy: Job = {
  name: "compare and copy environments",
  environment: "production",
  async work(person) {
    const said = await person.command("halyard diff development production");
    assert.match(said, new RegExp(named.copied));
    const preview = `halyard promote development production ${named.copied} --dry-run`;
    assert.match(await person.command(preview), new RegExp(named.copied));
    await person.command(`halyard promote development production ${named.copied} --yes`);
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
    const restore = page.getByRole("button", { name: `Restore ${named.deleted}` });
    await person.click(page.getByRole("link", { name: "Deleted flags" }), restore);
    await person.click(restore, page.getByRole("alert").filter({ hasText: named.deleted }));
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
    const said = await person.command(
      `halyard explain ${named.explained} user-4711 -c plan=pro -c country=CH -p production`,
    );
    assert.match(said, /country/);
  },
};

export const environmentJobs: readonly Job[] = [compareAndCopy, whoChanged, restoreDeleted];
export const explainJobs: readonly Job[] = [explain];
