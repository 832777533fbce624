// What a start loads: packages that take time and memory and that few servers need are not among it.
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
    HALYARD_MAX_LAG: "0",
    HALYARD_DATA: process.argv[1],
    HALYARD_BOOTSTRAP_KEYS: "development=${key}",
  });
  const server = await startServer(config, {});
  const atStart = [...loaded, ...process.moduleLoadList];
  await server.close();
  console.log(JSON.stringify(atStart));
`;

let atStart: readonly string[];
before(() => {
  const folder = newFolder();
  const args = ["--input-type=module", "-e", program, folder];
  const text = execFileSync(process.execPath, args, {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  atStart = JSON.parse(text) as readonly string[];
  rmSync(folder, { recursive: true });
});

test("a server on SQLite loads what its settings or a request ask for, and not before", () => {
  assert.ok(atStart.some((name) => name.includes("/kysely/")));
  const packages = [
    ...["pg", "@fastify/swagger", "yaml", "undici", "prom-client"],
    ...["@grpc", "@modelcontextprotocol", "@opentelemetry", "openid-client", "@zxcvbn-ts"],
  ];
  for (const name of [
    ...packages.map((each) => `/node_modules/${each}/`),
    ...["/packages/mcp/", "internal/deps/undici"],
  ]) {
    assert.deepEqual(
      atStart.filter((each) => each.includes(name)),
      [],
    );
  }
});
