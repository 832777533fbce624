// Every operation with every role, in one's own environment and in another one. The table says what is right: it is written by hand.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { OpenApi } from "./support/api.ts";
import { readRows } from "./support/database.ts";
import { signInAs } from "./support/people.ts";
import {
  type Allowed,
  keyRoles,
  personRoles,
  permissionTable as table,
} from "./support/permission-table.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** Open to everybody, or with a token of its own. */
const open = ["GET /healthz", "GET /readyz", "GET /ofrep/v1/events"];

interface Operation {
  readonly name: string;
  readonly allowed: Allowed;
  readonly example: unknown;
}

const readOperations = async (): Promise<readonly Operation[]> => {
  const { paths } = (await server.anonymous("GET", "//openapi.json")).body as OpenApi;
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
    ),
  );
  const names = described.map(([name]) => name).sort();
  assert.deepEqual(names, [...Object.keys(table), ...open].sort(), "the table lacks an operation");
  return described.flatMap(([name, operation]) => {
    const entry = table[name];
    const more = operation as {
      "x-permission"?: string;
      "x-roles"?: readonly string[];
      requestBody?: { content: { "application/json": { example?: unknown } } };
    };
    assert.equal(more["x-permission"], entry?.[0], name);
    if (!entry) return [];
    const [permission, allowed] = entry;
    const isAllowed = (role: string) =>
      [...allowed.keys, ...(allowed.people ?? [])].some((each) => each === role);
    for (const role of keyRoles) {
      if (permission.startsWith("personal-keys.")) break;
      assert.equal(more["x-roles"]?.includes(role), isAllowed(role), `${name}: ${role}`);
    }
    const { requestBody } = more;
    const example = requestBody && (requestBody.content["application/json"].example ?? {});
    return { name, allowed, example };
  });
};

type Headers = Readonly<Record<string, string>>;

/** The status alone: some answers have no end. */
const call = async (
  name: string,
  fill: (parameter: string, path: string) => string,
  headers: Headers,
  body: unknown,
): Promise<{ readonly status: number; readonly text: string }> => {
  const [method = "", path = ""] = name.split(" ");
  const filled = path.replace(/\{([^}]+)\}/g, (_, parameter) => fill(parameter, path));
  const response = await fetch(server.url + filled, {
    method,
    headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  if (path.endsWith("/stream")) {
    await response.body?.cancel();
    return { status: response.status, text: "" };
  }
  return { status: response.status, text: await response.text() };
};

const counts = async () => {
  const tables = ["flags", "segments", "webhooks", "api_keys", "users", "events", "history"];
  return Promise.all(
    tables.map((name) => readRows(server, `select count(*) as rows from ${name}`)),
  );
};

test("every operation answers those who may do it, and refuses everybody else before anything else", async () => {
  const operations = await readOperations();
  const { name: environment, keys, newKey } = await server.environment();
  const ofKeys = { ...keys, editor: await newKey("editor"), owner: await newKey("owner") };
  const ofPeople = new Map<string, Headers>();
  for (const role of personRoles) {
    const rights = role === "owner" ? { owner: true } : { roles: { [environment]: role } };
    const person = await signInAs(server, { name: role, ...rights });
    ofPeople.set(role, person.headersFor(environment));
  }
  const something = () => "something";
  const before = await counts();
  const expectRefusal = async (
    operation: Operation,
    who: string,
    status: number,
    headers: Headers,
  ) => {
    // What is wrong with the body does not matter yet.
    const body = operation.example === undefined ? undefined : "not json";
    const answer = await call(operation.name, something, headers, body);
    assert.equal(answer.status, status, `${operation.name} by ${who}: ${answer.text}`);
  };
  for (const operation of operations) {
    const { allowed } = operation;
    await expectRefusal(operation, "nobody", 401, {});
    await expectRefusal(operation, "a bad key", 401, { "x-api-key": "hal_0123456789abcdef_bad" });
    await expectRefusal(operation, "a bad session", 401, {
      cookie: `halyard_session=${"a".repeat(43)}`,
      "x-halyard-environment": environment,
    });
    for (const role of keyRoles) {
      if (allowed.keys.includes(role)) continue;
      await expectRefusal(operation, `the ${role} key`, 403, { "x-api-key": ofKeys[role] });
    }
    for (const role of personRoles) {
      if (allowed.people?.includes(role)) continue;
      const status = allowed.people ? 403 : 401;
      await expectRefusal(operation, `the ${role}`, status, ofPeople.get(role) ?? {});
    }
  }
  assert.deepEqual(await counts(), before, "a refused request has written something");

  for (const { name, allowed, example } of operations) {
    const callers: [string, Headers][] = [
      ...allowed.keys.map((role): [string, Headers] => [
        `the ${role} key`,
        { "x-api-key": ofKeys[role] },
      ]),
      ...(allowed.people ?? []).map((role): [string, Headers] => [
        `the ${role}`,
        ofPeople.get(role) ?? {},
      ]),
    ];
    for (const [who, headers] of callers) {
      const { status, text } = await call(name, something, headers, example);
      const isAnswer = status < 500 && ![401, 403, 405, 415, 429].includes(status);
      assert.ok(isAnswer, `${name} by ${who}: ${status} ${text}`);
    }
  }
});

test("nobody sees or changes anything in an environment that they have no access to; owners have access to all", async () => {
  const operations = await readOperations();
  const here = await server.environment();
  const there = await server.environment();
  const ofKeys = {
    ...here.keys,
    editor: await here.newKey("editor"),
    owner: await here.newKey("owner"),
  };

  const secret = "of-theirs";
  const make = async (path: string, body: object): Promise<string> => {
    const { status, text, body: made } = await there.admin("POST", path, body);
    assert.equal(status, 201, text);
    return (made as { readonly id?: string }).id ?? secret;
  };
  await make("/flags", { key: secret, type: "boolean" });
  await make("/segments", { key: secret });
  const ids: Readonly<Record<string, string>> = {
    webhooks: await make("/webhooks", { url: `http://127.0.0.1:9/${secret}`, events: ["*"] }),
    keys: await make("/keys", { name: secret, role: "admin" }),
    users: "usr_0",
    "personal-keys": "0",
  };
  const theirs = (parameter: string, path: string): string =>
    parameter === "id" ? (ids[path.split("/")[3] ?? ""] ?? secret) : secret;
  const before = await readRows(server, "select count(*) as rows from history");
  const reads = { "x-halyard-environment": there.name };

  for (const { name, allowed, example } of operations) {
    for (const role of keyRoles) {
      // A key has its own environment, whatever the request says.
      const headers = { "x-api-key": ofKeys[role], ...reads };
      const isAllowed = allowed.keys.includes(role);
      if (name.includes("{")) {
        const { status, text } = await call(name, theirs, headers, example);
        assert.equal(status, isAllowed ? 404 : 403, `${name} by the ${role} key: ${text}`);
      } else if (name.startsWith("GET ") && isAllowed) {
        const { text } = await call(name, theirs, headers, example);
        assert.ok(!text.includes(secret), `${name} by the ${role} key: ${text}`);
      }
    }
  }
  for (const role of ["viewer", "editor", "admin"] as const) {
    const person = await signInAs(server, { name: role, roles: { [here.name]: role } });
    for (const { name, example } of operations) {
      const { status, text } = await call(name, theirs, person.headersFor(there.name), example);
      assert.equal(status, 401, `${name} by the ${role}: ${text}`);
    }
  }
  const after = await readRows(server, "select count(*) as rows from history");
  assert.deepEqual(after, before);

  const owner = await signInAs(server, { name: "owner", owner: true });
  const listed = await call("GET /api/v1/flags", theirs, owner.headersFor(there.name), undefined);
  assert.ok(listed.status === 200 && listed.text.includes(secret), listed.text);
});
