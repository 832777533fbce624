// Bad bodies, paths and methods over real HTTP: refused in the shape of every error, and nothing is changed by it.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import type { Answer, OpenApi } from "./support/api.ts";
import { assertProtocolRefusal } from "./support/ofrep.ts";
import { exchange } from "./support/raw-http.ts";
import { assertError, readEverything } from "./support/refusals.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";

let server: TestServer;
let environment: TestEnvironment;
let webhook: string;
let head: string;
before(async () => {
  server = await startTestServer({}, { requestTimeout: 1_000 });
  environment = await server.environment();
  const { admin, keys } = environment;
  await admin("POST", "/flags", { key: "a", type: "rollout" });
  const made = await admin("POST", "/webhooks", { url: "http://127.0.0.1:9/", events: ["*"] });
  webhook = (made.body as { id: string }).id;
  head = `Host: 127.0.0.1\r\nAuthorization: Bearer ${keys.admin}\r\nContent-Type: application/json\r\n`;
});
after(() => server.close());

let unchanged: unknown;
beforeEach(async () => {
  unchanged = await readEverything(server);
});
afterEach(async () => {
  assert.deepEqual(
    await readEverything(server),
    unchanged,
    "a refused request has changed something",
  );
  assert.equal((await environment.admin("GET", "/flags/a")).status, 200, "it still answers");
});

/** Sends the body to every operation that takes one. */
const sendEverywhere = async (
  body: string | Uint8Array,
  check: (answer: Answer) => void,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> => {
  for (const [method, path] of [
    ["POST", "/flags"],
    ["PATCH", "/flags/a"],
    ["POST", "/webhooks"],
    ["PATCH", `/webhooks/${webhook}`],
    ["POST", "/keys"],
  ] as const) {
    check(await environment.admin(method, path, body, headers));
  }
};

test("a body that two readers could understand differently is refused, with the reason", async () => {
  const nested = (open: string, close: string, depth: number) =>
    `${open.repeat(depth)}1${close.repeat(depth)}`;
  const bodies: [string | Uint8Array, string][] = [
    ['{"enabled":true,"enabled":false}', '"enabled" twice'],
    ['{"enabled":true,"\\u0065nabled":false}', '"enabled" twice'],
    ['{"x":[{"y":1,"y":1}]}', '"y" twice'],
    ['{"__proto__":{"enabled":true}}', '"__proto__"'],
    ['{"\\u005f_proto__":null}', '"__proto__"'],
    ['{"x":{"__proto__":[]}}', '"__proto__"'],
    ['{"description":"\\ud800"}', "surrogate"],
    ['{"description":"\\udc00\\ud800"}', "surrogate"],
    ['{"\\ud800":1}', "surrogate"],
    ['{"description":"a\\u0000"}', "NUL"],
    ['{"a\\u0000":1}', "NUL"],
    ['{"description":"\u0000"}', "not valid JSON"],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), "not valid UTF-8"],
    [Buffer.from('{"description":"\xe9"}', "latin1"), "not valid UTF-8"],
    [Buffer.from('{"description":"x"}', "utf16le"), "not valid JSON"],
    [Buffer.from([0xed, 0xa0, 0x80]), "not valid UTF-8"],
    [nested("[", "]", 33), "deeper than 32"],
    [nested("[", "]", 100_000), "more than 10000"],
    [nested('{"a":', "}", 40), "deeper than 32"],
    ["[".repeat(200_000), "more than 10000"],
    [`{"x":[${"{},".repeat(10_000)}{}]}`, "more than 10000 fields, objects and lists"],
    [
      JSON.stringify(Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`f${at}`, 0]))),
      "more than 10000",
    ],
    ['{"a":"\\', "not valid JSON"],
    ['{"a\\x":1}', "not valid JSON"],
  ];
  for (const text of [
    "{",
    "{}}",
    "{'a':1}",
    "{a:1}",
    '{"a":1,}',
    "// a\n{}",
    "NaN",
    "undefined",
    '{"a":01}',
    "   ",
    "enabled=true",
    "<a/>",
  ]) {
    bodies.push([text, "not valid JSON"]);
  }
  for (const [body, word] of bodies) {
    await sendEverywhere(body, (answer) => assertError(answer, 400, word));
  }
});

test("a body that is no object is refused, and so is none at all", async () => {
  for (const body of ["", "null", "true", "0", '"text"', "[]", '[{"enabled":true}]']) {
    await sendEverywhere(body, (answer) => assertError(answer, 400, "must be a JSON object"));
  }
  for (const method of ["POST", "PATCH"]) {
    const path = method === "POST" ? "/flags" : "/flags/a";
    assertError(await environment.admin(method, path), 400, "must be a JSON object");
  }
});

test("names that every object inherits are unknown fields like any other", async () => {
  for (const name of ["constructor", "toString", "hasOwnProperty", "prototype", "valueOf"]) {
    const body = JSON.stringify({ [name]: { prototype: {} } });
    await sendEverywhere(body, (answer) =>
      assertError(answer, 400, `${name} is not a known field`),
    );
  }
  for (const query of [
    "__proto__=1",
    "constructor=1",
    "limit=1&limit=2",
    "limit[]=1",
    "limit=1e400",
    "type=constructor",
    "enabled=1",
  ]) {
    assertError(await environment.admin("GET", `/flags?${query}`), 400);
  }
});

test("a body must be JSON by its Content-Type, in UTF-8", async () => {
  const json = "application/json";
  const wrong = [
    "text/plain",
    "text/json",
    "application/jsonx",
    "application/json-patch+json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=a",
    "garbage",
    "",
    `${json}, text/plain`,
    `${json}; charset=latin1`,
    `${json}; charset="utf-16"`,
    `${json};charset=iso-8859-1`,
  ];
  for (const type of wrong) {
    const check = (answer: Answer) => assertError(answer, 415, "application/json");
    await sendEverywhere('{"enabled":true}', check, { "content-type": type });
  }
  const response = await fetch(`${server.url}/api/v1/flags/a`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${environment.keys.admin}` },
    body: Buffer.from('{"enabled":true}'),
  });
  assert.equal(response.status, 415, "a body without a Content-Type");
  await response.arrayBuffer();
  for (const type of [
    json,
    "APPLICATION/JSON",
    `${json}; charset=utf-8`,
    `${json};charset="UTF-8"`,
  ]) {
    const answer = await environment.admin("PATCH", "/flags/a", "{}", { "content-type": type });
    assert.equal(answer.status, 200, type);
  }
});

const line = (method: string, path: string, more = "") =>
  `${method} ${path} HTTP/1.1\r\n${head}Connection: close\r\n${more}\r\n`;

test("paths that cannot be read are refused, and unknown ones are 404", async () => {
  const paths: [string, number, ...string[]][] = [
    ["/api/v1/flags/%zz", 400, "percent-encoding"],
    ["/api/v1/flags/%", 400, "percent-encoding"],
    ["/api/v1/flags/%ff", 400, "percent-encoding"],
    ["/api/v1/flags/%c0%af", 400, "percent-encoding"],
    [`/api/v1/flags/${"a".repeat(5_000)}`, 400, "length"],
    [`/api/v1/flags/${"a".repeat(200)}`, 404, "does not exist"],
    ["/api/v1/flags/%00", 404, "does not exist"],
    ["/api/v1/flags/a%2fb", 404, '"a/b"'],
    ["/api/v1/flags/__proto__", 404, '"__proto__"'],
    ["/api/v1/webhooks/..%2f..%2fkeys", 404, "does not exist"],
    ...[
      "/nothing",
      "/api",
      "/api/v1",
      "/api/v1/",
      "/api/v2/flags",
      "/api/v1/flags/a/b",
      "/api/v1/../v1/flags",
      "//api/v1/flags",
      "/API/V1/flags",
      "/.env",
      "/docs/static/nothing.js",
      "/docs/static/..%2f..%2fpackage.json",
    ].map((path): [string, number, string] => [path, 404, "path does not exist"]),
  ];
  for (const [path, status, ...words] of paths) {
    const { answers } = await exchange(server.url, line("GET", path));
    assert.equal(answers.length, 1, path);
    assertError(answers[0], status, ...words);
  }
});

test("a method that a path does not take is 405 with Allow, on every path", async () => {
  const { paths } = (await server.anonymous("GET", "//openapi.json")).body as OpenApi;
  const known = Object.entries(paths).map(([path, methods]): [string, string[]] => [
    path.replace(/\{[^}]+\}/g, "x"),
    Object.keys(methods).map((method) => method.toUpperCase()),
  ]);
  known.push(["/openapi.json", ["GET"]], ["/docs/", ["GET"]]);
  for (const [path, methods] of known) {
    const isProtocol = path.startsWith("/ofrep/");
    const isForPages = isProtocol || path === "/api/v1/usage";
    const allowed = [
      ...methods,
      ...(methods.includes("GET") ? ["HEAD"] : []),
      ...(isForPages ? ["OPTIONS"] : []),
    ].sort();
    for (const method of [
      "GET",
      "PUT",
      "POST",
      "PATCH",
      "DELETE",
      "OPTIONS",
      "TRACE",
      "PROPFIND",
    ]) {
      if (isForPages && method === "OPTIONS") {
        const { answers } = await exchange(server.url, line(method, path));
        assert.equal(answers[0]?.headers.get("allow"), allowed.join(", "), path);
      }
      if (allowed.includes(method)) continue;
      const { answers } = await exchange(server.url, line(method, path));
      const [answer] = answers;
      if (isProtocol && answer) assertProtocolRefusal(answer, 405, `${method} is not allowed`);
      else if (path.startsWith("/openfeature/") && answer) {
        const { error } = answer.body as { readonly error: Record<string, unknown> };
        assert.deepEqual([answer.status, error.status], [405, 405]);
        assert.match(String(error.message), new RegExp(`^${method} is not allowed`));
      } else assertError(answer, 405, `${method} is not allowed`);
      assert.equal(answers[0]?.headers.get("allow"), allowed.join(", "), `${method} ${path}`);
    }
  }
});
