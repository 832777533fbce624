// Settings: what each variable means.
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { suite, test } from "node:test";
import { type Config, parseConfig } from "@halyard/server";

const bytes = Buffer.alloc(32, 7);
const older = Buffer.alloc(32, 9);
const keyA = "a-key-of-twenty-or-more";
const keyB = "b-key-of-twenty-or-more";

test("the defaults are those of a developer's machine", () => {
  assert.deepEqual(parseConfig({}), {
    host: "127.0.0.1",
    flagd: undefined,
    port: 4_400,
    database: { kind: "embedded", folder: resolve("data") },
    workers: 1,
    autoWorkers: false,
    bootstrapKeys: [],
    mayMigrate: true,
    serviceName: "Service",
    logLevel: "info",
    accessLog: false,
    metricsToken: undefined,
    secretKeys: [],
    callbacks: { loopback: true, ports: [443, 8443], allow: [] },
    rateLimit: 0,
    authFailureLimit: 0,
    addressLimit: 0,
    maxConnections: 25_000,
    maxPerAddress: 0,
    maxLag: 500,
    historyRetention: 0,
    maxEnvironments: 100,
    sampledContexts: 10_000,
    shutdownDelay: 0,
    trustProxy: false,
    publicUrl: undefined,
    dashboard: true,
    mcp: "off",
    providers: [],
    signInLink: true,
    eventEmails: false,
    ofrepMetadata: false,
    sessionIdle: 3_600_000,
    sessionLifetime: 43_200_000,
    unknown: [],
  } satisfies Config);
});

test("a server that others can reach is limited and calls no loopback", () => {
  for (const HOST of ["0.0.0.0", "::", "192.0.2.1", "halyard.example"]) {
    const { callbacks, rateLimit, authFailureLimit } = parseConfig({ HOST });
    assert.deepEqual([callbacks.loopback, rateLimit, authFailureLimit], [false, 6_000, 60], HOST);
  }
  for (const HOST of ["127.0.0.1", "127.9.9.9", "::1", "localhost"]) {
    const { callbacks, rateLimit, authFailureLimit } = parseConfig({ HOST });
    assert.deepEqual([callbacks.loopback, rateLimit, authFailureLimit], [true, 0, 0], HOST);
  }
  // 127.evil.example is a name, whatever it begins with.
  assert.equal(parseConfig({ HOST: "127.evil.example" }).callbacks.loopback, false);
  assert.equal(parseConfig({ HALYARD_RATE_LIMIT: "10" }).rateLimit, 10);
  assert.equal(parseConfig({ HOST: "::", HALYARD_RATE_LIMIT: "0" }).rateLimit, 0);
});

test("one address may hold a fifth of the connections, unless it can be a proxy's", () => {
  const mostOf = (settings: Readonly<Record<string, string>>) =>
    parseConfig(settings).maxPerAddress;
  assert.equal(mostOf({ HOST: "::" }), 5_000);
  assert.equal(mostOf({ HOST: "::", HALYARD_MAX_CONNECTIONS: "100" }), 20);
  assert.equal(mostOf({ HOST: "::", HALYARD_TRUST_PROXY: "10.0.0.0/8" }), 0);
  assert.equal(mostOf({ HOST: "localhost" }), 0);
});

suite("every setting", () => {
  const network = (address: string, bits: number) => ({ kind: "network", address, bits });
  const settings: [string, string, (config: Config) => unknown, unknown][] = [
    ["HOST", "0.0.0.0", ({ host }) => host, "0.0.0.0"],
    ["HOST", " ::1 ", ({ host }) => host, "::1"],
    ["PORT", "0", ({ port }) => port, 0],
    ["HALYARD_DASHBOARD", "off", ({ dashboard }) => dashboard, false],
    ["HALYARD_DASHBOARD", "on", ({ dashboard }) => dashboard, true],
    ["HALYARD_MCP", "on", ({ mcp }) => mcp, "write"],
    ["HALYARD_MCP", "read-only", ({ mcp }) => mcp, "read"],
    ["HALYARD_MCP", "off", ({ mcp }) => mcp, "off"],
    ["HALYARD_SIGN_IN_LINK", "off", ({ signInLink }) => signInLink, false],
    ["HALYARD_SIGN_IN_LINK", "on", ({ signInLink }) => signInLink, true],
    ["HALYARD_CALLBACK_LOOPBACK", "off", ({ callbacks }) => callbacks.loopback, false],
    ["HALYARD_SESSION_IDLE", "5", ({ sessionIdle }) => sessionIdle, 300_000],
    ["HALYARD_SESSION_IDLE", "720", ({ sessionIdle }) => sessionIdle, 43_200_000],
    ["HALYARD_SESSION_LIFETIME", "720", ({ sessionLifetime }) => sessionLifetime, 2_592_000_000],
    ["HALYARD_EVENT_EMAILS", "on", ({ eventEmails }) => eventEmails, true],
    ["HALYARD_OFREP_METADATA", "on", ({ ofrepMetadata }) => ofrepMetadata, true],
    ["HALYARD_CONTEXT_SAMPLE", "0", ({ sampledContexts }) => sampledContexts, 0],
    ["HALYARD_CONTEXT_SAMPLE", "500", ({ sampledContexts }) => sampledContexts, 500],
    ["HALYARD_MIGRATE", "off", ({ mayMigrate }) => mayMigrate, false],
    ["HALYARD_MIGRATE", "auto", ({ mayMigrate }) => mayMigrate, true],
    ["PORT", "65535", ({ port }) => port, 65_535],
    [
      "HALYARD_DATA",
      "/srv/halyard",
      ({ database }) => database,
      { kind: "embedded", folder: "/srv/halyard" },
    ],
    [
      "HALYARD_DATA",
      "some/where",
      ({ database }) => database,
      { kind: "embedded", folder: resolve("some/where") },
    ],
    ["HALYARD_WORKERS", "64", ({ workers }) => workers, 64],
    ["HALYARD_WORKERS", "auto", ({ workers }) => workers, Math.min(64, availableParallelism())],
    [
      "HALYARD_BOOTSTRAP_KEYS",
      `development=${keyA}, production=${keyB}`,
      ({ bootstrapKeys }) => bootstrapKeys,
      [
        { environment: "development", text: keyA },
        { environment: "production", text: keyB },
      ],
    ],
    ["HALYARD_SERVICE_NAME", "Acme-Flags", ({ serviceName }) => serviceName, "Acme-Flags"],
    ["HALYARD_LOG_LEVEL", "silent", ({ logLevel }) => logLevel, "silent"],
    ["HALYARD_ACCESS_LOG", "on", ({ accessLog }) => accessLog, true],
    ["HALYARD_ACCESS_LOG", "off", ({ accessLog }) => accessLog, false],
    ["HALYARD_METRICS_TOKEN", keyA, ({ metricsToken }) => metricsToken, keyA],
    ["HALYARD_SECRET_KEY", bytes.toString("hex"), ({ secretKeys }) => secretKeys, [bytes]],
    [
      "HALYARD_SECRET_KEY",
      `${bytes.toString("base64")}, ${older.toString("base64url")}`,
      ({ secretKeys }) => secretKeys,
      [bytes, older],
    ],
    ["HALYARD_CALLBACK_PORTS", "443, 9443", ({ callbacks }) => callbacks.ports, [443, 9_443]],
    [
      "HALYARD_CALLBACK_ALLOW",
      "10.1.0.0/16, 192.0.2.7,fd00::/8,Hooks.internal,*.svc.internal",
      ({ callbacks }) => callbacks.allow,
      [
        network("10.1.0.0", 16),
        network("192.0.2.7", 32),
        network("fd00::", 8),
        { kind: "name", name: "hooks.internal" },
        { kind: "name", name: "*.svc.internal" },
      ],
    ],
    ["HALYARD_RATE_LIMIT", "120", ({ rateLimit }) => rateLimit, 120],
    ["HALYARD_AUTH_FAILURE_LIMIT", "5", ({ authFailureLimit }) => authFailureLimit, 5],
    ["HALYARD_MAX_CONNECTIONS", "100", ({ maxConnections }) => maxConnections, 100],
    ["HALYARD_HISTORY_DAYS", "30", (config) => config.historyRetention, 2_592_000_000],
    ["HALYARD_MAX_CONNECTIONS_PER_ADDRESS", "9", ({ maxPerAddress }) => maxPerAddress, 9],
    ["HALYARD_ADDRESS_LIMIT", "7", ({ addressLimit }) => addressLimit, 7],
    ["HALYARD_FLAGD_PORT", "8015", ({ flagd }) => flagd?.port, 8_015],
    ["HALYARD_MAX_LAG", "0", ({ maxLag }) => maxLag, 0],
    ["HALYARD_MAX_LAG", "50", ({ maxLag }) => maxLag, 50],
    ["HALYARD_SHUTDOWN_DELAY", "5", ({ shutdownDelay }) => shutdownDelay, 5_000],
    ["HALYARD_TRUST_PROXY", "true", ({ trustProxy }) => trustProxy, true],
    ["HALYARD_TRUST_PROXY", "false", ({ trustProxy }) => trustProxy, false],
    ["HALYARD_TRUST_PROXY", "10.0.0.0/8,::1", ({ trustProxy }) => trustProxy, "10.0.0.0/8,::1"],
    ["HALYARD_PUBLIC_URL", "https://a.example", ({ publicUrl }) => publicUrl, "https://a.example"],
    ["HALYARD_PUBLIC_URL", "HTTP://A:80/b//", ({ publicUrl }) => publicUrl, "http://a/b"],
  ];
  for (const [name, value, read, expected] of settings) {
    test(`${name}=${value}`, () =>
      assert.deepEqual(read(parseConfig({ [name]: value })), expected));
  }

  test("one that is empty or blank counts as not set", () => {
    const names = [...new Set(settings.map(([name]) => name))];
    const blank = names.map((name, index) => [name, index % 2 === 0 ? "" : "  "]);
    assert.deepEqual(parseConfig(Object.fromEntries(blank)), parseConfig({}));
  });
});

test("a comma belongs to a bootstrap key unless an environment's name and = follow it", () => {
  const read = (text: string) =>
    parseConfig({ HALYARD_BOOTSTRAP_KEYS: text }).bootstrapKeys.map((key) => key.text);
  assert.deepEqual(read(`qa=one,,Two=,${keyA}`), [`one,,Two=,${keyA}`]);
  assert.deepEqual(read(`qa=one,${keyA},dev=${keyB}`), [`one,${keyA}`, keyB]);
});
