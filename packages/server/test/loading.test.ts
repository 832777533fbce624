// What a start loads: each of these takes time and memory of every server, and is needed by none or few of them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { before, test } from "node:test";
import { newFolder } from "./support/server.ts";

const key = "loading-key-0123456789";
const program = `
  import { registerHooks } from "node:module";
  const loaded = [];
  registerHooks({
    load(url, context, next) {
      loaded.push(url);
      return next(url, context);
    },
  });
  const { parseConfig, startServer } = await import("@halyard/server");
  const config = parseConfig({
    PORT: "0",
    HALYARD_LOG_LEVEL: "silent",
    HALYARD_DATA: process.argv[1],
    HALYARD_BOOTSTRAP_KEYS: "development=${key}",
  });
  const server = await startServer(config, {});
  const atStart = [...loaded, ...process.moduleLoadList];
  const headers = { authorization: "Bearer ${key}" };
  const ask = async (query) => {
    const answer = await fetch(server.url + "/api/v1/history?" + query, { headers });
    return [answer.status, (await answer.json()).details?.map(({ field }) => field)];
  };
  const answers = await Promise.all(["a=1", "b=1", "c=1", "limit=1"].map(ask));
  await server.close();
  console.log(JSON.stringify({ atStart, loaded, answers }));
`;

interface Printed {
  readonly atStart: readonly string[];
  readonly loaded: readonly string[];
  readonly answers: readonly unknown[];
}
let printed: Printed;
before(() => {
  const folder = newFolder();
  const args = ["--input-type=module", "-e", program, folder];
  const text = execFileSync(process.execPath, args, {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  printed = JSON.parse(text) as Printed;
  rmSync(folder, { recursive: true });
});

test("a server on SQLite loads what its settings or a request ask for, and not before", () => {
  assert.ok(printed.atStart.some((name) => name.includes("/kysely/")));
  const packages = [
    ...["typebox", "pg", "ajv", "@fastify/swagger", "yaml", "undici", "prom-client"],
    ...["@grpc", "@modelcontextprotocol", "@opentelemetry", "openid-client", "@zxcvbn-ts"],
  ];
  for (const name of [
    ...packages.map((each) => `/node_modules/${each}/`),
    ...["/packages/mcp/", "internal/deps/undici"],
  ]) {
    assert.deepEqual(
      printed.atStart.filter((each) => each.includes(name)),
      [],
    );
  }
});

test("the first requests wait for what checks them", () => {
  assert.ok(printed.loaded.some((name) => name.includes("/node_modules/ajv/")));
  const refused = ["a", "b", "c"].map((field) => [400, [field]]);
  assert.deepEqual(printed.answers, [...refused, [200, null]]);
});
