// halyard import --from: files of other products become flags on a server, and other flags are reported.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { runInThread } from "./support/command-thread.ts";
import { type Bench, boolean, newBench } from "./support/flag-files.ts";
import { files, folder, readJson } from "./support/import-fixtures.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const fixture = (name: string) => join(import.meta.dirname, "fixtures", name);

interface Report {
  readonly changes: { key: string; outcome: string }[];
  readonly leftOut: { name: string; reasons: string[]; suggestedKey?: string }[];
  readonly notes: { key: string; note: string }[];
  readonly remarks: string[];
  readonly whole: string[];
  readonly counts: Record<string, number>;
}

/** Imports into a new environment, and returns the flags and the report. */
const imported = async (...args: string[]) => {
  const { admin, keys } = await server.environment();
  const settings = { HALYARD_URL: server.url, HALYARD_API_KEY: keys.admin };
  const { code, stdout, stderr } = await runInThread(["import", ...args, "--json"], settings);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  const report = JSON.parse(stdout) as Report;
  assert.ok(report.changes.every(({ outcome }) => outcome === "done"));
  return {
    flags: (await admin("GET", "/flags")).body,
    skipped: Object.fromEntries(
      report.leftOut.map(({ name, reasons }) => [name, reasons.join("; ")]),
    ),
    report,
    settings,
    admin,
  };
};
const refuse = async (args: string[], code: number, message: RegExp) => {
  const bench = await newBench(server);
  assert.equal((await bench.fail(code, message, "import", ...args)).stdout, "");
};
/** Products with segments. flagd is below, and docs/moving.md runs the import from GO Feature Flag. */
const withSegments = ["launchdarkly", "unleash", "flagsmith", "growthbook", "flipt"];

suite("flags and segments of each product are created on the server", () => {
  for (const name of withSegments) {
    const [file = "", from = "", environment] = files[name] ?? [];
    test(name, async () => {
      const chosen = environment === undefined ? [] : ["--environment", environment];
      const { flags, report, admin } = await imported(
        join(folder, file),
        "--from",
        from,
        ...chosen,
      );
      const expected = readJson("expected", `${name}.json`) as Report & {
        flags: unknown[];
        segments: { key: string }[];
      };
      assert.deepEqual(flags, expected.flags);
      const segments = await Promise.all(
        expected.segments.map(async ({ key }) => (await admin("GET", `/segments/${key}`)).body),
      );
      assert.deepEqual(segments, expected.segments);
      const { counts, notes, leftOut } = report;
      assert.deepEqual(
        { counts, notes, leftOut },
        {
          counts: expected.counts,
          notes: expected.notes,
          leftOut: expected.leftOut,
        },
      );
      assert.equal(report.whole.length, counts.whole);
    });
  }
});

suite("Unleash", () => {
  test("--lossy imports the rest turned off, once, and never archived flags", async () => {
    const args = [fixture("unleash.json"), "--from", "unleash", "--lossy", "--rename-invalid"];
    const { flags, skipped, report, admin, settings } = await imported(...args);
    const list = flags as { key: string; enabled: boolean }[];
    assert.equal(list.length, 17);
    assert.deepEqual(
      list.filter(({ key }) => ["at-random", "in-a-segment", "wave"].includes(key)),
      [boolean("at-random", false), boolean("in-a-segment", false), boolean("wave", true)],
    );
    assert.deepEqual(Object.keys(skipped), ["old-banner"]);
    assert.deepEqual(
      report.notes.filter(({ key }) => key === "wave" || key === "at-random"),
      [
        {
          key: "at-random",
          note: "turned off, because it decides at random for every request",
        },
        { key: "wave", note: 'was "~wave"' },
      ],
    );
    // Later changes in Halyard are not undone.
    await admin("PATCH", "/flags/at-random", { enabled: true });
    const again = await runInThread(["import", ...args, "--prune"], settings);
    assert.equal(again.code, 0);
    assert.match(again.stdout, /Nothing to change in \S+ at \S+: all 17 flags are up to date\.\n$/);
    assert.deepEqual((await admin("GET", "/flags/at-random")).body, boolean("at-random", true));
  });

  test("an export of several environments requires a choice", async () => {
    const file = join(server.folder, "several.json");
    const whole = JSON.parse(readFileSync(fixture("unleash.json"), "utf8"));
    whole.featureEnvironments.push({
      featureName: "dark-mode",
      environment: "test",
      enabled: false,
    });
    for (const strategy of whole.featureStrategies) strategy.environment = "production";
    writeFileSync(file, JSON.stringify(whole));
    await refuse(
      [file, "--from", "unleash"],
      2,
      /choose one with --environment \(production, test\)/,
    );
    await refuse(
      [file, "--from", "unleash", "-e", "qa"],
      3,
      /no environment "qa"; it has production, test/,
    );
    const { flags, skipped } = await imported(file, "--from", "unleash", "--environment", "test");
    assert.deepEqual(flags, [boolean("dark-mode", false)]);
    assert.equal(skipped["new-checkout"], "is not in the environment test");
  });
});

suite("LaunchDarkly", () => {
  const file = join(folder, "launchdarkly.json");

  test("another environment, several pages, and text output", async () => {
    const pages = join(server.folder, "pages.json");
    const [{ items }] = JSON.parse(readFileSync(file, "utf8"));
    const [first, second] = items;
    writeFileSync(
      pages,
      JSON.stringify([
        { items: [first], totalCount: 3 },
        { items: [second], totalCount: 3 },
      ]),
    );
    const { name, keys, admin } = await server.environment();
    const where = `in ${name} at ${server.url}`;
    const { code, stdout } = await runInThread(
      ["import", pages, "--from", "launchdarkly", "-e", "test"],
      { HALYARD_URL: server.url, HALYARD_API_KEY: keys.admin },
    );
    assert.equal(code, 0);
    assert.equal(
      stdout,
      `Imported whole (2): dark-mode, new-checkout
The file contains 2 of the 3 flags that LaunchDarkly has: fetch the other pages too.
2 flags in the file: 2 imported whole, 0 with notes, 0 skipped.
+ dark-mode     boolean, on, "Dark mode"
+ new-checkout  rollout, on, 100%, "The checkout in one page", payments, web, anna@example.com
2 to create, 0 unchanged ${where}.
Done: 2 created ${where}.
`,
    );
    assert.equal((await admin("GET", "/flags/new-checkout")).status, 200);
    await refuse([pages, "--from", "launchdarkly"], 2, /--environment \(production, test\)/);
  });

  test("flags of two environments of a file have the same type, and can be promoted", async () => {
    const staging = await newBench(server);
    const production = await newBench(server);
    writeFileSync(
      staging.settings.HALYARD_CONFIG ?? "",
      JSON.stringify({
        profiles: {
          staging: { url: server.url, key: staging.keys.admin },
          production: { url: server.url, key: production.keys.admin },
        },
      }),
      { mode: 0o600 },
    );
    for (const [bench, environment] of [
      [staging, "test"],
      [production, "production"],
    ] as const) {
      await bench.run("import", file, "--from", "launchdarkly", "-e", environment, "--yes");
    }
    // Only production has a percentage.
    const typeAt = async ({ admin }: Bench) => {
      const { body } = await admin("GET", "/flags/new-checkout");
      const { type, percentage } = body as Record<string, unknown>;
      return [type, percentage];
    };
    assert.deepEqual(await typeAt(staging), ["rollout", 100]);
    assert.deepEqual(await typeAt(production), ["rollout", 25.5]);
    await staging.succeed("promote", "staging", "production", "new-checkout", "--yes");
    assert.deepEqual(await typeAt(production), ["rollout", 100]);
  });
});

suite("Flagsmith", () => {
  test("an export of features: boolean flags, and a hint for rollouts", async () => {
    const { flags, skipped, report } = await imported(
      fixture("flagsmith-features.json"),
      "--from",
      "flagsmith",
      "--rename-invalid",
    );
    const list = flags as { key: string; type: string }[];
    assert.deepEqual(
      list.filter(({ type }) => type === "boolean"),
      [
        boolean("Ete", false),
        boolean("Summer-sale", true),
        boolean("dark_mode", false),
        boolean("new_checkout", true),
      ],
    );
    assert.deepEqual(
      list.filter(({ type }) => type === "variant").map(({ key }) => key),
      ["banner_text", "colour", "page_size"],
    );
    assert.deepEqual(skipped, {
      "winter sale": 'as "winter-sale", it would collide with "winter/sale"',
      "winter/sale": 'as "winter-sale", it would collide with "winter sale"',
    });
    assert.match(report.remarks.join(), /does not contain segment overrides/);
  });
});

test("text output; pruning keeps flags that the file contains but can't be imported", async () => {
  const { name, admin, keys } = await server.environment();
  const where = `in ${name} at ${server.url}`;
  await admin("POST", "/flags", { key: "thirds", type: "boolean" });
  await admin("POST", "/flags", { key: "unrelated", type: "boolean" });
  const settings = { HALYARD_URL: server.url, HALYARD_API_KEY: keys.admin };
  const args = ["import", fixture("flagd.yaml"), "--from", "flagd", "--prune", "--yes"];
  const { code, stdout } = await runInThread(args, settings);
  assert.equal(code, 0);
  assert.equal(
    stdout,
    `Imported whole (4): colour, dark-mode, for-employees, quiet
Imported, with notes (4):
  new-checkout: exact only if targetingKey is present
  spelled-out: exact only if targetingKey is present
  asleep: is disabled: flagd then returns the default in the code, Halyard returns false
  by-email: exact only if email is present
Skipped (2):
  thirds: has a percentage of 1 / 3, which is not between 0% and 100% in steps of 0.001%
  no-default: has no default variant: the default in the code applies
3 flags reach a percentage of the users: the percentage stays the same, but Halyard selects other users.
10 flags in the file: 4 imported whole, 4 with notes, 2 skipped.
+ asleep         boolean, off
+ by-email       rollout, on, 50%, email
+ colour         variant, on, string, {"red":"#f00","blue":"#00f"}, red, red
+ dark-mode      boolean, on
+ for-employees  boolean, on, off, 1 rule: rule-1
+ new-checkout   rollout, on, 25%, "The checkout in one page"
+ quiet          boolean, off
+ spelled-out    rollout, on, 0.5%
- unrelated      boolean, off
8 to create, 1 to delete, 0 unchanged ${where}.
Done: 8 created, 1 deleted ${where}.
`,
  );
  assert.equal((await admin("GET", "/flags/thirds")).status, 200);
});
