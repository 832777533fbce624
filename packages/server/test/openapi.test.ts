// The description of the API and its page: valid, complete, true to its own examples, and served from here alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
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
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
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

interface Document {
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

test("every operation of the API names its role and how to authenticate; the others name neither", () => {
  for (const [name, operation] of operations) {
    if (operation["x-role"] === undefined) {
      assert.ok(!name.includes(" /api/"), `${name} names no role`);
      assert.equal(operation.security, undefined, name);
    } else {
      assert.ok(["client", "server", "admin"].includes(operation["x-role"]), name);
      assert.deepEqual(operation.security, [{ bearer: [] }, { apiKey: [] }], name);
    }
  }
});

/** These have the error bodies of the OpenFeature protocol. */
const isProtocol = (name: string): boolean => name.includes(" /ofrep/");

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
        const isStream = status === "200" && /\/(stream|events)$/.test(name);
        const type = isStream ? "text/event-stream" : "application/json";
        assert.deepEqual(Object.keys(content ?? {}), [type], where);
      }
      if (Number(status) < 400) continue;
      const { $ref } = content?.["application/json"]?.schema ?? {};
      assert.equal($ref, isProtocol(name) ? undefined : "#/components/schemas/Error", where);
    }
  }
});

test("every body has an example, and every example is as its schema says", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, multipleOfPrecision: 6 });
  ajv.addSchema({ $id: "halyard", ...document });
  const local = (schema: object) =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"halyard#/components/'));
  let checked = 0;
  const check = (where: string, { schema, example, examples }: Content) => {
    const given = [
      ...(example === undefined ? [] : [example]),
      ...Object.values(examples ?? {}).map(({ value }) => value),
    ];
    assert.ok(given.length > 0, `${where} has no example`);
    const validate = ajv.compile(local(schema));
    for (const value of given) {
      assert.ok(validate(value), `${where}: ${ajv.errorsText(validate.errors)}`);
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
      const { error, errorDetails } = (example?.value ?? {}) as Record<string, string>;
      assert.equal(error, isProtocol(name) ? undefined : codes[status], `${name} ${status}`);
      assert.equal(errorDetails !== undefined, isProtocol(name), `${name} ${status}`);
    }
  }
});

/** Addresses that a browser loads because of this text, resolved against where the text came from. */
const loadedBy = (type: string, text: string, from: string): URL[] => {
  const patterns = type.startsWith("text/html")
    ? [/<(?:script|img|iframe)[^>]+src="([^"]+)"/g, /<link[^>]+href="([^"]+)"/g]
    : type.startsWith("text/css")
      ? [/url\(\s*["']?([^"')]+)/g, /@import\s+["']([^"']+)/g]
      : [];
  return patterns
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .map(([, address = ""]) => new URL(address, from))
    .filter(({ protocol }) => protocol !== "data:");
};

test("/docs and everything that it loads come from this server", async () => {
  for (const start of ["/docs", "/docs/"]) {
    const waiting = [new URL(start, server.url)];
    const seen = new Set<string>();
    for (const url of waiting) {
      assert.equal(url.origin, server.url, `${url.href} is loaded from elsewhere`);
      if (seen.has(url.href)) continue;
      seen.add(url.href);
      const response = await fetch(url);
      assert.equal(response.status, 200, url.href);
      const type = response.headers.get("content-type") ?? "";
      waiting.push(...loadedBy(type, await response.text(), url.href));
    }
    assert.ok(seen.size >= 6, [...seen].join());
    assert.ok([...seen].some((href) => href.endsWith(".css")));
    assert.ok([...seen].some((href) => href.endsWith("swagger-initializer.js")));
  }
  const settings = await server.anonymous("GET", "//docs/static/swagger-initializer.js");
  assert.match(settings.text, /validatorUrl: null/);
  assert.match(settings.text, /url: resolveUrl\('\.\/json'\)/);
  assert.deepEqual((await server.anonymous("GET", "//docs/json")).body, document);
});

test("the page may load nothing from elsewhere, and works over plain http", async () => {
  for (const path of ["//docs", "//docs/", "//docs/static/swagger-initializer.js"]) {
    const { headers } = await server.anonymous("GET", path);
    const policy = headers.get("content-security-policy") ?? "";
    const directives = policy.split(";").map((part) => part.trim().split(/\s+/));
    const named = Object.fromEntries(directives.map(([name = "", ...sources]) => [name, sources]));
    assert.deepEqual(named["default-src"], ["'self'"], path);
    assert.deepEqual(named["frame-ancestors"], ["'none'"], path);
    assert.deepEqual(named["object-src"], ["'none'"], path);
    assert.ok(!("upgrade-insecure-requests" in named), path);
    for (const source of Object.values(named).flat()) {
      assert.ok(["'self'", "'none'", "data:"].includes(source), `${path}: ${source}`);
    }
    assert.equal(headers.get("x-content-type-options"), "nosniff");
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
