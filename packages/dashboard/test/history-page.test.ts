// The history of the environment in a real browser: filtered, restored, exported; what was deleted; and why.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { HistoryEntry, Segment } from "@halyard/sdk/management";
import type { Page } from "playwright-core";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { csvCell, csvHead, csvRows } from "../src/history/csv.ts";
import { historyFilterFrom, historyParameters, queryOf } from "../src/history/history-filter.ts";
import { segmentAt } from "../src/segments/segment-past.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { addressOf, dialog, notice, openAs, until } from "./support/flags.ts";

suite("without a browser", () => {
  test("a filter is the same after it was in an address, and what is none is left out", () => {
    const text =
      "kind=segment&q=a&who=b&key=beta&actor=ci&from=2026-11-01T00%3A00%3A00.000Z&deleted=1";
    const filter = historyFilterFrom(new URLSearchParams(text));
    assert.equal(historyParameters(filter).toString(), text);
    assert.deepEqual(queryOf(filter, 0), {
      subject: "segment",
      id: "beta",
      q: "a",
      who: "b",
      actor: "ci",
      since: "2026-11-01T00:00:00.000Z",
      deleted: true,
    });
    const labels = historyFilterFrom(new URLSearchParams("kind=flag&tag=%20pay&owner=shop"));
    assert.deepEqual(queryOf(labels, 0), { subject: "flag", tag: "pay", owner: "shop" });
    const none = historyFilterFrom(new URLSearchParams("kind=key&tag=pay&owner=shop"));
    assert.deepEqual(queryOf(none, 0), { subject: "key" }, "only flags have tags and owners");
    const odd = historyFilterFrom(new URLSearchParams("kind=x&range=day&from=2026&to=never&key=f"));
    assert.deepEqual(queryOf(odd, 86_400_000 * 2), {
      subject: "flag",
      id: "f",
      since: "1970-01-02T00:00:00.000Z",
    });
  });

  test("no cell of the CSV is a formula", () => {
    for (const text of ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\r1", "＝1"]) {
      assert.equal(csvCell(text), `"'${text}"`);
    }
    assert.equal(csvCell('say "hi", ok\n'), '"say ""hi"", ok\n"');
    assert.deepEqual([csvCell(-1), csvCell(null), csvCell("a=1")], ['"-1"', '""', '"a=1"']);
    const entry: HistoryEntry = {
      subject: "flag",
      id: "f",
      version: 1,
      revision: 1,
      createdAt: "2026-11-14T12:00:00.000Z",
      actor: { keyId: "k", name: "=cmd" },
      reason: "@why",
      actions: ["flag.created"],
      before: null,
      after: { key: "f" },
      chain: null,
      changeRequest: { id: "cr_1", approvedBy: ["Bo"] },
      bypass: { actor: { keyId: null, name: "Olga" }, reason: "now" },
    };
    assert.equal(
      csvHead + csvRows([entry]),
      `\ufeff"time","actor","keyId","kind","key","version","actions","reason","before","after","changeRequest","approvedBy","bypass","user","userId"\r
"2026-11-14T12:00:00.000Z","'=cmd","k","flag","f","1","flag.created","'@why","","{""key"":""f""}","cr_1","Bo","Olga: now","",""\r
`,
    );
  });

  test("a segment is found as a version left it, also through a deletion", () => {
    const about = { description: null, when: null };
    const changes = (
      [
        [5, { include: { added: ["e"], removed: ["c"] } }],
        [4, { include: { added: ["c"], removed: [] }, exclude: { added: ["x"], removed: [] } }],
        [3, null],
        [2, { include: { added: ["b"], removed: ["a"] } }],
        [1, { include: { added: ["a"], removed: [] } }],
      ] as const
    ).map(([version, after]): HistoryEntry => {
      const deleted = { ...about, include: ["b"], exclude: [] };
      return {
        subject: "segment",
        id: "s",
        version,
        revision: version,
        createdAt: "",
        actor: { keyId: null, name: "" },
        actions: [],
        before: after === null ? deleted : about,
        after: after === null ? null : { ...about, ...after },
        chain: null,
      };
    });
    const current: Segment = { key: "s", ...about, include: ["e"], exclude: ["x"] };
    const at = (version: number) => {
      const found = segmentAt("s", current, changes.slice(0, 6 - version));
      return [found?.include, found?.exclude];
    };
    assert.deepEqual([5, 4, 3, 2, 1].map(at), [
      [["e"], ["x"]],
      [["c"], ["x"]],
      [["b"], []],
      [["b"], []],
      [["a"], []],
    ]);
  });
});

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const entries = (page: Page) => page.getByRole("list", { name: "Changes" }).getByRole("listitem");

test("in production a change asks why, and what was deleted is restored with its history", async (t) => {
  const production = server.firstKeys.find(({ environment }) => environment === "production");
  assert.ok(production);
  const admin = server.api(production.text);
  await admin("POST", "/flags", { key: "gone", type: "rollout", percentage: 30 });
  await admin("DELETE", "/flags/gone");
  await admin("POST", "/flags", { key: "there", type: "boolean" });
  const address = "/deleted-flags";
  const { page } = await openAs(browser, t, server.url, [production.text], address, audited);
  await page.getByRole("heading", { name: "Deleted", level: 1 }).waitFor();
  assert.match((await addressOf(page)).href, /\/history\?kind=flag&deleted=1$/);
  await audit(page, "deleted flags");
  await page.getByRole("button", { name: "Restore: gone, version 2" }).click();
  const why = dialog(page).getByLabel("Why? (optional, shown in history and sent in events)");
  await why.waitFor();
  await until(async () => assert.ok(await why.evaluate((input) => input.matches(":focus"))));
  await audit(page, "a reason to give");
  await page.keyboard.type(" Needed after all ");
  await page.keyboard.press("Enter");
  await notice(page, "gone").waitFor();
  await entries(page).getByText("Exists again").waitFor();
  await page.getByRole("link", { name: "gone" }).click();
  await page.getByText("“Needed after all”").waitFor();
  const [last] = (await admin("GET", "/flags/gone/history")).body as HistoryEntry[];
  assert.equal(last?.reason, "Needed after all");
});
