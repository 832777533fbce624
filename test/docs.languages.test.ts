// The programs of the documents that need packages of registries: Python, Go and OpenTelemetry, with the packages that they name, against a running server.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, suite, type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { createManagement } from "../packages/sdk/src/management.ts";
import { folderOf } from "../packages/sdk/test/support/guide.ts";
import { startTestServer, type TestServer } from "../packages/server/test/support/server.ts";
import { blockTitled, read } from "./support/pages.ts";

const run = promisify(execFile);
const python = "docs/evaluate/python.md";
const go = "docs/evaluate/go.md";
const telemetry = "docs/evaluate/opentelemetry.md";

suite("programs of other languages", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ HALYARD_OFREP_METADATA: "on" });
  });
  after(() => server.close());

  /** A flag at 25 percent, and a shell in a folder with these programs; the packages are installed there, or the test is skipped. */
  const prepare = async (
    t: TestContext,
    page: string,
    files: Readonly<Record<string, string>>,
    { install = "install", role = "client" as "client" | "server" } = {},
  ) => {
    const { keys, name } = await server.environment();
    const { flags } = createManagement({ url: server.url, key: keys.admin });
    await flags.create({ key: "new-checkout", type: "rollout", percentage: 25 });
    assert.ok((await flags.update("new-checkout", { enabled: true })).ok);
    const here = Object.entries(files).map(([name, text]) => [
      name,
      text.replaceAll("http://127.0.0.1:4400", server.url),
    ]);
    const cwd = folderOf(t, Object.fromEntries(here));
    const shell = async (script: string): Promise<string> => {
      const line = script.replace("HALYARD_API_KEY=hal_…", `HALYARD_API_KEY=${keys[role]}`);
      const here = line.replaceAll("http://127.0.0.1:4400", server.url);
      return (await run("sh", ["-ec", here], { cwd })).stdout.replaceAll(name, "production");
    };
    try {
      await shell(blockTitled(page, install));
    } catch (error) {
      t.skip(`the packages cannot be installed here: ${String(error).split("\n", 2).join(" ")}`);
      return undefined;
    }
    return shell;
  };

  test("OpenTelemetry", async (t) => {
    const name = "telemetry.mjs";
    const shell = await prepare(t, telemetry, { [name]: blockTitled(telemetry, name) });
    if (!shell) return;
    const printed = await shell(blockTitled(telemetry, "run"));
    assert.ok(printed.includes(blockTitled(telemetry, "output")), printed);
  });

  test("OpenTelemetry, with conversions", async (t) => {
    const name = "conversions.mjs";
    const files = { [name]: blockTitled(telemetry, name) };
    const sdk = { install: "install the SDK", role: "server" } as const;
    const shell = await prepare(t, telemetry, files, sdk);
    if (!shell) return;
    const printed = await shell(blockTitled(telemetry, "run conversions"));
    assert.ok(printed.includes(blockTitled(telemetry, "conversions output")), printed);
    assert.match(printed, /'feature_flag.result.variant': 'off'/);
  });

  test("Python", async (t) => {
    const shell = await prepare(t, python, {
      "checkout.py": blockTitled(python, "checkout.py"),
    });
    if (!shell) return;
    assert.equal(await shell(blockTitled(python, "run")), blockTitled(python, "output"));
    const rejected = await shell("HALYARD_API_KEY=wrong venv/bin/python checkout.py");
    assert.equal(rejected, "False ERROR GENERAL\nFalse ERROR GENERAL\n");
    assert.ok(read(python).includes("`False ERROR GENERAL` twice"));
  });

  test("Go", async (t) => {
    const shell = await prepare(t, go, {
      "main.go": blockTitled(go, "main.go"),
    });
    if (!shell) return;
    assert.equal(await shell(blockTitled(go, "run")), blockTitled(go, "output"));
  });
});
