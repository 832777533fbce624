// What a setting may not be, and that all mistakes are told together.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parseConfig, StartupProblem } from "@halyard/server";

const bytes = Buffer.alloc(32, 7);
const keyA = "a-key-of-twenty-or-more";
const keyB = "b-key-of-twenty-or-more";

suite("every mistake", () => {
  const mistakes: [string, string[], RegExp][] = [
    ["HOST", ["a b", "http://127.0.0.1", "[::1]", "ä.example"], /a host name or an IP address/],
    ["PORT", ["-1", "65536", "http", "80.5", "0x50", "1e3"], /a whole number from 0 to 65535/],
    ["HALYARD_WORKERS", ["0", "65", "-1", "two", "1.5", "AUTO"], /from 1 to 64, or auto/],
    [
      "HALYARD_BOOTSTRAP_KEYS",
      [
        "development",
        "development=",
        "development=short",
        `=${keyA}`,
        `Development=${keyA}`,
        `development=${"x".repeat(201)}`,
        `development=${keyA} with space`,
        `development=${keyA}é`,
        `development=${keyA},development=${keyB}`,
        `development=${keyA},production=${keyA}`,
        `development=${keyA},production=short`,
      ],
      /a list such as development=KEY,production=KEY.*20 to 200 visible ASCII characters/,
    ],
    [
      "HALYARD_SERVICE_NAME",
      ["-a", "a-", "a b", "a_b", "a:b", "a\r\nb", "x".repeat(41)],
      /1 to 40 letters, digits or hyphens/,
    ],
    ["HALYARD_LOG_LEVEL", ["INFO", "verbose"], /one of fatal, error, warn, info/],
    ["HALYARD_ACCESS_LOG", ["yes", "ON", "1"], /on or off/],
    [
      "HALYARD_METRICS_TOKEN",
      ["short", "with a space in the middle", "x".repeat(201), "ä-key-of-twenty-or-more"],
      /20 to 200 visible ASCII characters/,
    ],
    [
      "HALYARD_SECRET_KEY",
      [
        "short",
        "0".repeat(63),
        "z".repeat(64),
        Buffer.alloc(31).toString("base64"),
        Buffer.alloc(33).toString("base64"),
        `${bytes.toString("hex")},short`,
        `${bytes.toString("hex")},`,
      ],
      /32 bytes as 64 hexadecimal digits or as base64/,
    ],
    ["HALYARD_CALLBACK_PORTS", ["0", "65536", "443,", "https"], /port numbers separated by commas/],
    [
      "HALYARD_CALLBACK_ALLOW",
      ["10.0.0.0/33", "http://hooks.internal", "hooks.internal:80", "*", "1.2.3", "a,,b", "-a"],
      /addresses, networks or names separated by commas/,
    ],
    ["HALYARD_RATE_LIMIT", ["-1", "many", "1.5", "1e9"], /0 for no limit/],
    ["HALYARD_AUTH_FAILURE_LIMIT", ["-1", "few"], /0 for no limit/],
    [
      "HALYARD_PUBLIC_URL",
      [
        "flags.example.com",
        "ftp://a.example",
        "https://u:p@a.example",
        "https://a/?b",
        "https://a/#b",
      ],
      /the http or https address/,
    ],
    ["HALYARD_MAX_CONNECTIONS", ["0", "1000001", "many"], /a whole number from 1 to 1000000/],
    ["HALYARD_HISTORY_DAYS", ["-1", "36501", "never"], /days from 0 to 36500/],
    ["HALYARD_MAX_CONNECTIONS_PER_ADDRESS", ["-1", "many"], /0 to 1000000, 0 for no limit/],
    ["HALYARD_ADDRESS_LIMIT", ["-1", "few"], /requests a minute, 0 for no limit/],
    ["HALYARD_FLAGD_PORT", ["-1", "65536", "on"], /a whole number from 0 to 65535/],
    ["HALYARD_MAX_LAG", ["-1", "60001", "1.5"], /milliseconds from 0 to 60000, 0 for no limit/],
    ["HALYARD_SHUTDOWN_DELAY", ["-1", "61", "soon"], /seconds from 0 to 60/],
    ["HALYARD_TRUST_PROXY", ["yes", "1.2.3.4/99", "proxy.internal", "1"], /true, false, or the/],
  ];
  for (const [name, values, rule] of mistakes) {
    test(name, () => {
      for (const value of values) {
        assert.throws(
          () => parseConfig({ [name]: value }),
          (error) => {
            assert.ok(error instanceof StartupProblem);
            assert.ok(error.message.startsWith(`A setting is wrong: ${name} must be `), value);
            assert.match(error.message, rule);
            // It may be a secret.
            if (value.length > 20) assert.ok(!error.message.includes(value));
            return true;
          },
          `${name}=${value}`,
        );
      }
    });
  }

  test("all of them at once are told in one message, one line each", () => {
    const all = Object.fromEntries(mistakes.map(([name, [value]]) => [name, value]));
    assert.throws(
      () => parseConfig(all),
      (error) => {
        assert.ok(error instanceof StartupProblem);
        const [head, ...lines] = error.message.split("\n");
        assert.equal(head, `${mistakes.length} settings are wrong:`);
        assert.deepEqual(
          lines.map((line) => /^ {2}- ([A-Z_]+) must be .*\.$/.exec(line)?.[1] ?? "").sort(),
          Object.keys(all).sort(),
        );
        return true;
      },
    );
  });
});

test("a variable that begins with HALYARD_ and means nothing is named, in order", () => {
  const { unknown } = parseConfig({
    HALYARD_RATELIMIT: "1",
    HALYARD_DATABASE_FILE: "x",
    HALYARD_LOG_LEVEL: "info",
    HALYARDS: "",
    PATH: "/bin",
  });
  assert.deepEqual(unknown, ["HALYARD_DATABASE_FILE", "HALYARD_RATELIMIT"]);
});

test("the port for flagd is another one, and its certificate has a key", () => {
  assert.throws(() => parseConfig({ HALYARD_FLAGD_PORT: "4400" }), /another port than PORT/);
  for (const name of ["HALYARD_FLAGD_TLS_CERT", "HALYARD_FLAGD_TLS_KEY"]) {
    assert.throws(() => parseConfig({ [name]: "some.pem" }), /must be set together/);
  }
});
