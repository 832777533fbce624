// halyard import --from: what other products export becomes flags at a started server, and what cannot is told.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { runHalyard } from "../../server/test/support/halyard-process.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { boolean, newBench, rollout } from "./support/flag-files.ts";

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
}

/** In an environment of its own: the flags that are there afterwards, and what was told. */
const imported = async (...args: string[]) => {
  const { admin, keys } = await server.environment();
  const settings = { HALYARD_URL: server.url, HALYARD_API_KEY: keys.admin };
  const { code, stdout, stderr } = await runHalyard(["import", ...args, "--json"], settings);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  const report = JSON.parse(stdout) as Report;
  assert.ok(report.changes.every(({ outcome }) => outcome === "done"));
  return {
    flags: (await admin("GET", "/flags")).body,
    told: Object.fromEntries(report.leftOut.map(({ name, reasons }) => [name, reasons.join("; ")])),
    report,
    settings,
    admin,
  };
};
const refuse = async (args: string[], code: number, message: RegExp) => {
  const bench = await newBench(server);
  assert.equal((await bench.fail(code, message, "import", ...args)).stdout, "");
};
const inAnewShare = (count: string) =>
  `${count} a percentage of the users: the percentage stays the same, but Halyard selects other users.`;

suite("Unleash", { concurrency: 2 }, () => {
  test("plain flags and single rollouts come over exactly, the others are told", async () => {
    const { flags, told, report } = await imported(fixture("unleash.json"), "--from", "unleash");
    assert.deepEqual(flags, [
      boolean("dark-mode", true),
      rollout("gradual-by-user", true, 40),
      rollout("half-of-one-percent", false, 0.5),
      rollout("new-checkout", true, 25, "The checkout in one page"),
      boolean("no-strategies", false),
      rollout("one-of-two-disabled", true, 100),
    ]);
    assert.deepEqual(told, {
      "gradual-by-session": "uses sessionId instead of the user",
      "at-random": "decides at random for every request",
      "beta-testers": "has the strategy userWithId",
      "two-ways": "has 2 strategies (default, flexibleRollout)",
      "only-canada": "has constraints",
      "in-a-segment": "uses segments",
      "button-colour": "has variants",
      child: "depends on another flag",
      sleeping: "has only disabled strategies",
      "too-fine": "has a percentage of 33.3333, which is not one of 0 to 100 % in steps of 0.001 %",
      "old-banner": "is archived; is not in the environment production",
      "~wave": "the name is not allowed in Halyard",
    });
    assert.equal(report.leftOut.find(({ name }) => name === "~wave")?.suggestedKey, "wave");
    assert.deepEqual(report.remarks, [inAnewShare("2 flags reach")]);
  });

  test("--lossy brings the rest switched off, once, and never what is archived", async () => {
    const args = [fixture("unleash.json"), "--from", "unleash", "--lossy", "--rename-invalid"];
    const { flags, told, report, admin, settings } = await imported(...args);
    const list = flags as { key: string; enabled: boolean }[];
    assert.equal(list.length, 17);
    assert.deepEqual(
      list.filter(({ key }) => ["beta-testers", "only-canada", "wave"].includes(key)),
      [
        boolean("beta-testers", false, "For the testers"),
        rollout("only-canada", false, 0),
        boolean("wave", true),
      ],
    );
    assert.deepEqual(Object.keys(told), ["old-banner"]);
    assert.deepEqual(
      report.notes.filter(({ key }) => key === "wave" || key === "child"),
      [
        { key: "child", note: "turned off, because it depends on another flag" },
        { key: "wave", note: 'was "~wave"' },
      ],
    );
    // What somebody has made of it here since is not undone.
    await admin("PATCH", "/flags/only-canada", { enabled: true, percentage: 30 });
    const again = await runHalyard(["import", ...args, "--prune"], settings);
    assert.equal(again.code, 0);
    assert.match(again.stdout, /Nothing to change in \S+ at \S+: all 17 flags are up to date\.\n$/);
    assert.deepEqual(
      (await admin("GET", "/flags/only-canada")).body,
      rollout("only-canada", true, 30),
    );
  });

  test("an export of several environments needs one chosen", async () => {
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
    const { flags, told } = await imported(file, "--from", "unleash", "--environment", "test");
    assert.deepEqual(flags, [boolean("dark-mode", false)]);
    assert.equal(told["new-checkout"], "is not in the environment test");
  });
});

suite("LaunchDarkly", { concurrency: 2 }, () => {
  const file = fixture("launchdarkly.json");

  test("boolean flags with or without a rollout for everyone come over exactly", async () => {
    const { flags, told, report } = await imported(
      file,
      "--from",
      "launchdarkly",
      "--environment",
      "production",
    );
    assert.deepEqual(flags, [
      boolean("dark-mode", true, "Dark mode"),
      rollout("new-checkout", true, 25.5, "The checkout in one page"),
      rollout("other-way-round", false, 0.001),
      boolean("serving-false", false),
    ]);
    assert.deepEqual(told, {
      theme: "serves values other than true and false",
      employees: "has prerequisites; has individual targets; has targeting rules",
      "by-account": "uses account instead of the user",
      experiment: "runs an experiment",
      inverted: "serves true while it is off",
      gone: "is archived",
      "summary-only": "is in the file as a summary only: request it with summary=0",
    });
    assert.deepEqual(report.remarks, [
      "The file contains 11 of the 12 flags that LaunchDarkly has: fetch the other pages too.",
      inAnewShare("One flag reaches"),
    ]);
  });

  test("another environment, several pages, and a file for people to read", async () => {
    const pages = join(server.folder, "pages.json");
    const { items } = JSON.parse(readFileSync(file, "utf8"));
    const [first, second, ...others] = items;
    writeFileSync(
      pages,
      JSON.stringify([
        { items: [first], totalCount: 2 },
        { items: [second], totalCount: 2 },
      ]),
    );
    const { name, keys, admin } = await server.environment();
    const where = `in ${name} at ${server.url}`;
    const { code, stdout } = await runHalyard(
      ["import", pages, "--from", "launchdarkly", "-e", "test"],
      { HALYARD_URL: server.url, HALYARD_API_KEY: keys.admin },
    );
    assert.equal(code, 0);
    assert.equal(
      stdout,
      `+ dark-mode     boolean, off, "Dark mode"
+ new-checkout  boolean, on, "The checkout in one page"
2 to create, 0 unchanged ${where}.
Done: 2 created ${where}.
`,
    );
    assert.equal((await admin("GET", "/flags/new-checkout")).status, 200);
    await refuse([pages, "--from", "launchdarkly"], 2, /--environment \(production, test\)/);
    assert.equal(others.length, 9);
  });
});

suite("Flagsmith", { concurrency: 2 }, () => {
  test("an export of features: what is on and off, and where to get the rollouts", async () => {
    const { flags, told, report } = await imported(
      fixture("flagsmith-features.json"),
      "--from",
      "flagsmith",
      "--rename-invalid",
    );
    assert.deepEqual(flags, [
      boolean("Ete", false),
      boolean("Summer-sale", true),
      boolean("dark_mode", false),
      boolean("new_checkout", true),
    ]);
    assert.deepEqual(told, {
      banner_text: "has a value besides on and off",
      page_size: "has a value besides on and off",
      colour: "has variants",
      "winter sale": 'as "winter-sale" it would collide with "winter/sale"',
      "winter/sale": 'as "winter-sale" it would collide with "winter sale"',
    });
    assert.match(report.remarks.join(), /does not contain segment overrides/);
  });

  test("an environment document: shares of everyone come over exactly", async () => {
    const { flags, told } = await imported(
      fixture("flagsmith-environment.json"),
      "--from",
      "flagsmith",
    );
    assert.deepEqual(flags, [
      rollout("fast_search", true, 99.9),
      rollout("new_checkout", true, 10),
      boolean("plain", true),
    ]);
    assert.deepEqual(told, {
      internal_tools: "uses the segment employees",
      mixed: "uses the segment a fifth of employees",
      by_account: "uses account instead of the identity",
      none_of: "uses the segment everyone but a tenth",
      just_for_anna: "is overridden for single identities",
    });
  });
});

test("flagd: defaults and fractional splits by targeting key come over exactly", async () => {
  const { flags, told, report } = await imported(fixture("flagd.yaml"), "--from", "flagd");
  assert.deepEqual(flags, [
    boolean("asleep", false),
    boolean("dark-mode", true),
    rollout("new-checkout", true, 25, "The checkout in one page"),
    boolean("quiet", false),
    rollout("spelled-out", true, 0.5),
  ]);
  assert.deepEqual(told, {
    thirds: "has a percentage of 1 / 3, which is not one of 0 to 100 % in steps of 0.001 %",
    "by-email": "splits by something other than the targeting key",
    "for-employees": "has targeting rules",
    colour: "has values other than true and false",
    "no-default": "has no default variant: the default in the code applies",
  });
  assert.deepEqual(report.notes, [
    {
      key: "asleep",
      note: "is disabled: flagd then returns the default in the code, Halyard returns false",
    },
  ]);
});

test("for people; and pruning spares what the file names but cannot bring", async () => {
  const { name, admin, keys } = await server.environment();
  const where = `in ${name} at ${server.url}`;
  await admin("POST", "/flags", { key: "colour", type: "boolean" });
  await admin("POST", "/flags", { key: "unrelated", type: "boolean" });
  const settings = { HALYARD_URL: server.url, HALYARD_API_KEY: keys.admin };
  const args = ["import", fixture("flagd.yaml"), "--from", "flagd", "--prune", "--yes"];
  const { code, stdout } = await runHalyard(args, settings);
  assert.equal(code, 0);
  assert.equal(
    stdout,
    `Imported, with notes:
  asleep: is disabled: flagd then returns the default in the code, Halyard returns false
Skipped (5):
  thirds: has a percentage of 1 / 3, which is not one of 0 to 100 % in steps of 0.001 %
  by-email: splits by something other than the targeting key
  for-employees: has targeting rules
  colour: has values other than true and false
  no-default: has no default variant: the default in the code applies
2 flags reach a percentage of the users: the percentage stays the same, but Halyard selects other users.
+ asleep        boolean, off
+ dark-mode     boolean, on
+ new-checkout  rollout, on, 25 %, "The checkout in one page"
+ quiet         boolean, off
+ spelled-out   rollout, on, 0.5 %
- unrelated     boolean, off
5 to create, 1 to delete, 0 unchanged ${where}.
Done: 5 created, 1 deleted ${where}.
`,
  );
  assert.equal((await admin("GET", "/flags/colour")).status, 200);
});
