// The description of the API: valid, complete, and true to its own examples.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { type Describing, faultsBy } from "./support/described.ts";
import { signInAs } from "./support/people.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

interface Content {
  readonly schema: { readonly $ref?: string };
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: unknown;
  readonly "x-role"?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: { readonly pattern?: string };
  }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, Content>>;
  };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description?: string;
        readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
        readonly content?: Readonly<Record<string, Content>>;
      }
    >
  >;
}

interface Document extends Describing {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let server: TestServer;
let document: Document;
let operations: (readonly [string, Operation])[];
before(async () => {
  server = await startTestServer();
  document = (await server.anonymous("GET", "//openapi.json")).body as Document;
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const),
  );
});
after(() => server.close());

test("/openapi.json is a valid OpenAPI 3.1 document", async () => {
  assert.equal(document.openapi, "3.1.0");
  assert.equal(document.info.title, "Halyard");
  const { valid, errors } = await new Validator().validate({ ...structuredClone(document) });
  assert.ok(valid, JSON.stringify(errors, null, 2));
});

test("it describes every path of the interface", () => {
  const described = new Set(operations.map(([name]) => name));
  for (const name of [
    "get /api/v1/flags",
    "post /api/v1/flags",
    "get /api/v1/flags/{key}",
    "patch /api/v1/flags/{key}",
    "delete /api/v1/flags/{key}",
    "get /api/v1/flags/{key}/history",
    "get /api/v1/webhooks",
    "post /api/v1/webhooks",
    "get /api/v1/webhooks/{id}",
    "patch /api/v1/webhooks/{id}",
    "delete /api/v1/webhooks/{id}",
    "get /api/v1/keys",
    "post /api/v1/keys",
    "delete /api/v1/keys/{id}",
    "post /ofrep/v1/evaluate/flags",
    "post /ofrep/v1/evaluate/flags/{key}",
    "get /ofrep/v1/events",
    "get /healthz",
    "get /readyz",
  ]) {
    assert.ok(described.has(name), name);
  }
});

test("every operation has a name of its own, a summary, a known tag and all its path parameters", () => {
  const names = operations.map(([, { operationId }]) => operationId);
  assert.equal(new Set(names).size, operations.length, "an operationId is missing or used twice");
  const tags = document.tags.map(({ name }) => name);
  for (const [name, operation] of operations) {
    assert.match(operation.operationId ?? "", /^[a-z][A-Za-z]+$/, name);
    assert.ok(operation.summary, `${name} has no summary`);
    assert.ok(operation.tags?.length === 1 && tags.includes(operation.tags[0] ?? ""), name);
    const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
    const inPath = [...name.matchAll(/\{([^}]+)\}/g)].map(([, parameter]) => parameter);
    assert.deepEqual(
      declared.map((parameter) => parameter.name),
      inPath,
      name,
    );
  }
});

const isForPeople = (name: string): boolean => name.includes("/personal-keys");

test("every operation of the API names its role and how to authenticate; the others name neither", () => {
  for (const [name, operation] of operations) {
    if (operation["x-role"] === undefined) {
      assert.ok(!name.includes(" /api/"), `${name} names no role`);
      assert.equal(operation.security, undefined, name);
    } else {
      const roles = ["client", "server", "viewer", "editor", "admin", "owner"];
      assert.ok(roles.includes(operation["x-role"]), name);
      assert.deepEqual(
        operation.security,
        isForPeople(name) ? [{ session: [] }] : [{ bearer: [] }, { apiKey: [] }],
        name,
      );
    }
  }
});

/** These have the error bodies of the OpenFeature protocol. */
const isProtocol = (name: string): boolean => name.includes(" /ofrep/");
const hasOwnErrors = (name: string): boolean => / \/(ofrep|openfeature)\//.test(name);

test("every operation describes every status that it can answer with", () => {
  for (const [name, { responses, requestBody, "x-role": role }] of operations) {
    const expected = [
      ...(role ? ["400", "401", "403", "429", "500", "503"] : []),
      ...(role && requestBody ? ["413", "415"] : []),
      ...(role && name.includes("{") ? ["404"] : []),
    ];
    for (const status of expected) assert.ok(responses[status], `${name} lacks ${status}`);
    assert.ok(
      Object.keys(responses).some((status) => status.startsWith("2")),
      name,
    );
    for (const [status, { description, headers, content }] of Object.entries(responses)) {
      const where = `${name} ${status}`;
      assert.ok(description && description !== "Default Response", `${where} is not described`);
      assert.ok(headers?.["X-Request-Id"]?.description, `${where} lacks X-Request-Id`);
      if (status === "401") assert.ok(headers["WWW-Authenticate"], where);
      if (["429", "503"].includes(status)) assert.ok(headers["Retry-After"], where);
      if (["204", "304"].includes(status)) assert.equal(content, undefined, where);
      else {
        const isStream = status === "200" && /\/(stream|ofrep\/v1\/events)$/.test(name);
        const areLines = status === "200" && name.endsWith("/history/export");
        const lines = areLines ? "application/x-ndjson" : "application/json";
        const type = isStream ? "text/event-stream" : lines;
        assert.deepEqual(Object.keys(content ?? {}), [type], where);
      }
      if (Number(status) < 400) continue;
      const { $ref } = content?.["application/json"]?.schema ?? {};
      assert.equal($ref, hasOwnErrors(name) ? undefined : "#/components/schemas/Error", where);
    }
  }
});

test("every body has an example, and every example is as its schema says", () => {
  const faultOf = faultsBy(document);
  let checked = 0;
  const check = (where: string, { schema, example, examples }: Content) => {
    const given = [
      ...(example === undefined ? [] : [example]),
      ...Object.values(examples ?? {}).map(({ value }) => value),
    ];
    assert.ok(given.length > 0, `${where} has no example`);
    for (const value of given) {
      assert.equal(faultOf(schema, value), undefined, where);
      checked += 1;
    }
  };
  for (const [name, { requestBody, responses }] of operations) {
    for (const content of Object.values(requestBody?.content ?? {})) check(name, content);
    for (const [status, { content }] of Object.entries(responses)) {
      for (const body of Object.values(content ?? {})) check(`${name} ${status}`, body);
    }
  }
  assert.ok(checked >= operations.length);
});

test("the example of an error carries the code of its status", () => {
  const codes: Readonly<Record<string, string>> = {
    400: "VALIDATION_FAILED",
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    409: "CONFLICT",
    412: "PRECONDITION_FAILED",
    413: "PAYLOAD_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
    429: "RATE_LIMITED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
  };
  for (const [name, { responses }] of operations) {
    for (const [status, { content }] of Object.entries(responses)) {
      if (Number(status) < 400) continue;
      const { example } = content?.["application/json"]?.examples ?? {};
      const { error, errorDetails } = (example?.value ?? {}) as Record<string, unknown>;
      const code = isProtocol(name) || !hasOwnErrors(name) ? error : codes[Object(error).status];
      assert.equal(code, isProtocol(name) ? undefined : codes[status], `${name} ${status}`);
      assert.equal(errorDetails !== undefined, isProtocol(name), `${name} ${status}`);
    }
  }
});

test("a body is required exactly where an empty one is refused", async () => {
  const environment = await server.environment();
  const key = server.api(await environment.newKey("owner"));
  const person = (await signInAs(server, { owner: true })).in(environment.name);
  for (const [name, { requestBody }] of operations) {
    const [method = "", path = ""] = name.split(" ");
    if (method === "get") continue;
    const filled = `/${path.replace(/\{[^}]+\}/g, "something")}`;
    const { status, text } = await (isForPeople(name) ? person : key)(method.toUpperCase(), filled);
    assert.equal(status === 400, requestBody?.required === true, `${name}: ${status} ${text}`);
    if (requestBody) assert.equal(typeof requestBody.required, "boolean", name);
  }
});

test("headers that are refused when they are malformed have a pattern, which is what is checked", async () => {
  const patternOf = (header: string): RegExp => {
    const patterns = operations
      .flatMap(([, { parameters = [] }]) => parameters)
      .filter(({ name, in: place }) => place === "header" && name === header)
      .map(({ schema }) => schema.pattern);
    assert.equal(new Set(patterns).size, 1, header);
    return new RegExp(patterns[0] ?? assert.fail(header));
  };
  const { admin } = await server.environment();
  const isRefused = async (method: string, path: string, header: string, value: string) => {
    const { status } = await admin(method, path, {}, { [header]: value });
    return status === 400;
  };
  const asked: [string, string, string, string[]][] = [
    [
      "POST",
      "/webhooks/x/test",
      "idempotency-key",
      ["a", "a b", "a".repeat(255), "a".repeat(256), "é"],
    ],
    [
      "PATCH",
      "/flags/x",
      "if-match",
      ["*", '"7"', 'W/"7"', '"1", "2"', '"1",', "7", '"1" "2"', "a"],
    ],
  ];
  for (const [method, path, header, values] of asked) {
    const pattern = patternOf(header);
    for (const value of values) {
      const refused = await isRefused(method, path, header, value);
      assert.equal(refused, !pattern.test(value), `${header}: ${value}`);
    }
  }
});

test("/healthz and /readyz answer without a key, and are not kept by caches", async () => {
  for (const [path, status] of [
    ["//healthz", "ok"],
    ["//readyz", "ready"],
  ] as const) {
    const answer = await server.anonymous("GET", path);
    assert.deepEqual([answer.status, answer.body], [200, { status }]);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.ok(answer.headers.get("x-request-id"));
    assert.equal((await fetch(server.url + path.slice(1), { method: "HEAD" })).status, 200);
  }
});
