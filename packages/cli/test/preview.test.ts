// --preview, --confirm-flips and --max-flips, and previews of dry runs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { people, reportTraffic } from "../../server/test/support/traffic.ts";
import { boolean, newBench, rollout } from "./support/flag-files.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** A rollout of 10%, and 100 users. */
const setUp = async () => {
  const bench = await newBench(server);
  await bench.put(rollout("checkout", true, 10), rollout("search", true, 10));
  await bench.admin("POST", "/segments", { key: "staff" });
  const contexts = people(100, (index) => ({ plan: index < 20 ? "pro" : "free" }));
  await reportTraffic(server.url, bench.keys.server, "checkout", contexts);
  return bench;
};

test("--preview shows the affected users, as text and JSON, and changes nothing", async () => {
  const bench = await setUp();
  const revision = await bench.revision();
  const output = await bench.succeed("flags", "rollout", "checkout", "100", "--preview");
  assert.match(
    output,
    /^Of 100 users sampled since \S+, (\d+) would get a different value: [\d.]+%, between [\d.]+ and [\d.]+%\.\ncheckout: \1 would get a different value; exactly 90% of all users\.\n {2}off → on: \1\n/,
  );
  assert.match(output, /Nothing was changed\.\n$/);
  const { preview } = JSON.parse(
    await bench.succeed("flags", "disable", "checkout", "search", "--preview", "--json"),
  );
  assert.equal(preview.sample.contexts, 100);
  assert.equal(preview.flags.length, 2);
  for (const args of [
    ["flags", "create", "fresh", "--percentage", "50", "--enabled"],
    ["flags", "delete", "checkout"],
    ["flags", "rules", "add", "checkout", "--when", "plan in pro", "--serve", "on"],
    ["segments", "add", "staff", "user-1"],
    ["segments", "update", "staff", "--when", "plan in pro"],
    ["segments", "delete", "staff"],
  ]) {
    assert.match(await bench.succeed(...args, "--preview"), /Nothing was changed/, args.join(" "));
  }
  assert.match(
    await bench.succeed("flags", "delete", "checkout", "--preview"),
    /\n {2}on → the default of your code: \d+\nFor example \{.*\} \(checkout: on → the default of your code\)\.\n/,
  );
  // The share excludes users with an unknown result.
  const rule = ["flags", "rules", "add", "checkout", "--when", "city in Delft", "--serve", "on"];
  assert.match(
    await bench.succeed(...rule, "--preview"),
    /^Of 100 users sampled since \S+, 0 of \d+ with a known result would get a different value: 0%/,
  );
  // The same error as without --preview.
  const missing = /^halyard: The flag "none" does not exist\. halyard flags list shows/;
  await bench.fail(3, missing, "flags", "enable", "none", "--preview");
  const wrong = /^halyard: percentage must be /;
  const set = ["flags", "update", "checkout", "--set", "percentage=150"];
  await bench.fail(2, wrong, ...set, "--preview");
  assert.equal(await bench.revision(), revision);
});

test("a dry run of import shows the affected users", async () => {
  const bench = await setUp();
  const file = bench.file("flags.json", [rollout("checkout", true, 60)]);
  const output = await bench.succeed("import", file, "--dry-run");
  assert.match(output, /Of 100 users sampled since/);
  assert.match(output, /exactly 50% of all users/);
  const json = JSON.parse(await bench.succeed("import", file, "--preview", "--json"));
  assert.equal(json.dryRun, true);
  assert.equal(json.previews[0].flags[0].exactShare, 50);
});

test("a dry run previews any number of new flags, with the new flags and segments that they reference", async () => {
  const bench = await setUp();
  const requires = [{ flag: "base", variant: "on" }];
  const rule = { id: "one", when: { segment: ["invited"] }, serve: "on" };
  const extras = [{ requires }, { rules: [rule], otherwise: "off" }, {}] as const;
  const many = Array.from({ length: 120 }, (_, index) => ({
    ...boolean(`many-${index}`, true),
    ...extras[index % extras.length],
  }));
  const file = bench.file(
    "flags.json",
    JSON.stringify({
      halyard: 1,
      flags: [...many, boolean("base", true), { ...rollout("checkout", true, 60), requires }],
      segments: [{ key: "invited", include: ["user-1"] }],
    }),
  );
  const output = await bench.succeed("import", file, "--dry-run");
  assert.doesNotMatch(output, /Couldn't preview/);
  assert.match(output, /^Part 3 of 3: Of 100 users sampled since/m);
  const report = JSON.parse(await bench.succeed("import", file, "--dry-run", "--json"));
  const previewed = report.previews.flatMap(({ flags }: { flags: { key: string }[] }) =>
    flags.map(({ key }) => key),
  );
  for (const { key } of [...many, { key: "base" }, { key: "checkout" }]) {
    assert.ok(previewed.includes(key), key);
  }
});

test("--max-flips sets an impact limit, and --confirm-flips exceeds it", async () => {
  const bench = await setUp();
  const owner = await bench.newKey("owner");
  await bench.succeed("environments", "update", bench.name, "--max-flips", "20", "--key", owner);
  assert.match(await bench.succeed("environments", "list", "--key", owner), / 20%$/m);
  const refusal = /more than the limit of 20%.*--confirm-flips 95.*--preview/;
  await bench.fail(5, refusal, "flags", "rollout", "checkout", "100");
  await bench.fail(
    5,
    /75% confirmed/,
    "flags",
    "rollout",
    "checkout",
    "100",
    "--confirm-flips",
    "75",
  );
  await bench.succeed("flags", "rollout", "checkout", "100", "--confirm-flips", "95");
  await bench.succeed("environments", "update", bench.name, "--max-flips", "none", "--key", owner);
  await bench.succeed("flags", "rollout", "checkout", "0");
  const made = ["keys", "create", "--role", "editor", "--name", "ci", "--max-flips", "5", "--json"];
  const { stdout } = await bench.run(...made);
  const { key, maxFlips } = JSON.parse(stdout);
  assert.equal(maxFlips, 5);
  assert.match(await bench.succeed("keys", "list"), / 5% +ci\b/);
  await bench.fail(5, /limit of 5%/, "flags", "rollout", "checkout", "50", "--key", key);
});
