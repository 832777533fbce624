// HTTP clients of Python: streams, and an answer that comes before the body has been sent.
import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** Prints each event as it arrives. What it must not do is wait until a buffer of its own is full. */
const pythonReaders = {
  requests: `
import requests
answer = requests.get(url, headers=headers, stream=True, timeout=(5, 60))
for line in answer.iter_lines(decode_unicode=True):
    if line.startswith("event:"): print(line, flush=True)`,
  urllib3: `
import urllib3
answer = urllib3.PoolManager().request("GET", url, headers=headers, preload_content=False)
rest = ""
for part in answer.stream():
    *lines, rest = (rest + part.decode()).split("\\n")
    for line in lines:
        if line.startswith("event:"): print(line, flush=True)`,
};

for (const [library, program] of Object.entries(pythonReaders)) {
  test(`Python's ${library} has an event when it was sent`, async (t) => {
    // The same variables for both runs: what Python can import depends on them.
    const env = { PATH: process.env.PATH };
    const { status } = spawnSync("python3", ["-c", `import ${library}`], { env });
    if (status !== 0) {
      t.skip(`python3 with ${library} is not installed here`);
      return;
    }
    const { keys, admin } = await server.environment();
    const given = `url = "${server.url}/api/v1/stream"\nheaders = {"X-API-Key": "${keys.server}"}`;
    const reader = spawn("python3", ["-c", `${given}${program}`], { env });
    t.after(() => reader.kill("SIGKILL"));
    let printed = "";
    let errors = "";
    reader.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
    reader.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    const printedLines = (expected: string) => () => {
      assert.equal(reader.exitCode, null, `Python ended: ${errors}`);
      return printed === expected;
    };
    await until("the snapshot", printedLines("event: snapshot\n"));
    await admin("POST", "/flags", { key: "a", type: "boolean" });
    await until("the change", printedLines("event: snapshot\nevent: change\n"));
  });
}

test("Python's own client reads the 413", async (t) => {
  const { keys } = await server.environment();
  const program = `
import http.client, sys
def parts():
    for part in range(8):
        other = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
        other.request("GET", "/healthz")
        other.getresponse().read()
        yield b" " * 262_144
client = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
client.request("POST", "/api/v1/flags", parts(), {
    "Content-Type": "application/json", "X-API-Key": sys.argv[2], "Content-Length": str(8 * 262_144)})
print(client.getresponse().status)`;
  const port = new URL(server.url).port;
  const ran = promisify(execFile)("python3", ["-c", program, port, keys.admin]);
  const { stdout } = await ran.catch((error: Error & { code?: unknown }) => {
    if (error.code === "ENOENT") return { stdout: "" };
    throw error;
  });
  if (stdout === "") t.skip("there is no python3");
  else assert.equal(stdout.trim(), "413");
});
