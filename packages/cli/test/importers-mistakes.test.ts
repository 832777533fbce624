// halyard import --from with a file of another product: rejected with the next step, without output.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { newBench } from "./support/flag-files.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const fixture = (name: string) => join(import.meta.dirname, "fixtures", name);
const refuse = async (args: string[], code: number, message: RegExp) => {
  const bench = await newBench(server);
  assert.equal((await bench.fail(code, message, "import", ...args)).stdout, "");
};

suite("files of another product", () => {
  const mistakes: [name: string, from: string[], code: number, message: RegExp][] = [
    ["unleash.json", [], 1, /looks like an export of unleash: add --from unleash/],
    ["flagd.yaml", [], 1, /looks like an export of flagd: add --from flagd/],
    ["unleash.json", ["--from", "growthbook"], 1, /not a file from GrowthBook/],
    ["unleash.json", ["--from", "flipt"], 1, /not a file from Flipt/],
    ["unleash.json", ["--from", "go-feature-flag"], 1, /not a file from GO Feature Flag/],
    ["products/flipt.yaml", ["--from", "flipt"], 2, /--environment \(production, staging\)/],
    ["flagd.yaml", ["--from", "unleash"], 1, /not a file from Unleash/],
    ["unleash.json", ["--from", "launchdarkly"], 1, /not a file from LaunchDarkly/],
    ["unleash.json", ["--from", "flagsmith"], 1, /not a file from Flagsmith/],
    ["products/launchdarkly.json", ["--from", "flagd"], 1, /not a file from flagd/],
    ["flagd.yaml", ["--from", "flagd", "-e", "x"], 1, /omit --environment/],
    [
      "unleash.json",
      ["--lossy"],
      2,
      /--lossy is for files of other products: name the product with --from/,
    ],
    ["unleash.json", ["--from", "split"], 2, /Allowed choices are halyard, unleash/],
  ];
  for (const [name, args, code, message] of mistakes) {
    test(`${name} ${args.join(" ")}`, () => refuse([fixture(name), ...args], code, message));
  }
});
