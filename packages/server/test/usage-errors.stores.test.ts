// Evaluations that fail: reported by clients or made over OFREP, kept within limits, and listed while the error holds.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { readRows } from "./support/database.ts";
import { day, hour, movableClock } from "./support/movable-clock.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";
import { environmentWith } from "./support/usage.ts";

const clock = movableClock();
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: clock.clock });
});
after(() => server.close());

interface Listed {
  readonly key: string;
  readonly errorCode: string;
  readonly count: number;
  readonly lastEvaluatedAt: string;
  readonly deletion: { readonly at: string; readonly actor: { readonly name: string } } | null;
  readonly programs: readonly { readonly name: string; readonly count: number }[];
}

type Errors = Readonly<Record<string, number>>;

const list = async (environment: TestEnvironment, query = ""): Promise<readonly Listed[]> => {
  const response = await environment.server("GET", `/usage/errors${query}`);
  assert.equal(response.status, 200, response.text);
  return response.body as Listed[];
};

/** Without times. */
const listed = async (environment: TestEnvironment, query = "") =>
  (await list(environment, query)).map(({ key, errorCode, count, programs }) => [
    ...[key, errorCode, count],
    Object.fromEntries(programs.map(({ name, count: ofProgram }) => [name, ofProgram])),
  ]);

const clientNamed = (name: string) => ({
  id: name.padEnd(24, "0"),
  name,
  sdk: "js/0.1.0",
  revision: "0-0",
});

const report = async (
  environment: TestEnvironment,
  errors: Readonly<Record<string, Errors>>,
  program?: string,
  by: "client" | "server" = "server",
) => {
  const response = await environment[by]("POST", "/usage", {
    evaluations: Object.entries(errors).map(([key, each]) => ({
      key,
      on: 0,
      off: 0,
      errors: each,
    })),
    ...(program !== undefined && { client: clientNamed(program) }),
  });
  assert.equal(response.status, 204, response.text);
};

suite("errors of evaluations", () => {
  test("are listed by key, with the programs that report them", async () => {
    const environment = await environmentWith(server, ["size"]);
    assert.deepEqual(await list(environment), []);
    await report(environment, { "old-checkout": { FLAG_NOT_FOUND: 3 } }, "checkout-api");
    await report(
      environment,
      { "old-checkout": { FLAG_NOT_FOUND: 4 }, size: { TYPE_MISMATCH: 2 } },
      "web",
    );
    await report(environment, { "old-checkout": { FLAG_NOT_FOUND: 5 } }, "checkout-api");
    assert.deepEqual(await listed(environment), [
      ["old-checkout", "FLAG_NOT_FOUND", 12, { "checkout-api": 8, web: 4 }],
      ["size", "TYPE_MISMATCH", 2, { web: 2 }],
    ]);
    const [first] = await list(environment);
    assert.equal(first?.deletion, null);
    const age = clock.clock().getTime() - Date.parse(first?.lastEvaluatedAt ?? "");
    assert.ok(age >= 0 && age < 60_000, `${age} ms ago`);
  });

  test("name the API key if the program has no name, and never trust a name from a client key", async () => {
    const environment = await environmentWith(server, []);
    await report(environment, { gone: { FLAG_NOT_FOUND: 1 } });
    await report(environment, { gone: { FLAG_NOT_FOUND: 2 } }, "invented", "client");
    const keys = (await environment.admin("GET", "/keys")).body as { name: string; role: string }[];
    const nameOf = (role: string) => keys.find((key) => key.role === role)?.name ?? "";
    assert.deepEqual(await listed(environment), [
      ["gone", "FLAG_NOT_FOUND", 3, { [nameOf("client")]: 2, [nameOf("server")]: 1 }],
    ]);
  });

  test("count over OFREP too", async () => {
    const environment = await environmentWith(server, ["a"]);
    for (const [key, status] of [
      ["a", 200],
      ["gone", 404],
      ["gone", 404],
      ["not%20a%20key", 404],
    ] as const) {
      const response = await environment.client("POST", `//ofrep/v1/evaluate/flags/${key}`, {
        context: { targetingKey: "u" },
      });
      assert.equal(response.status, status);
    }
    assert.deepEqual(
      (await listed(environment)).map(([key, code, count]) => [key, code, count]),
      [["gone", "FLAG_NOT_FOUND", 2]],
    );
  });

  test("say who deleted the flag, and end when it is created again", async () => {
    const environment = await environmentWith(server, ["checkout"]);
    await report(environment, { checkout: { FLAG_NOT_FOUND: 1 } }, "early");
    assert.deepEqual(await list(environment), [], "the flag exists");
    await environment.admin("DELETE", "/flags/checkout");
    await report(environment, { checkout: { FLAG_NOT_FOUND: 7 } }, "checkout-api");
    const [error] = await list(environment);
    const [entry] = (await environment.server("GET", "/flags/checkout/history?limit=1")).body as {
      createdAt: string;
      actor: { name: string };
    }[];
    assert.deepEqual(error?.deletion, { at: entry?.createdAt, actor: entry?.actor });
    await environment.admin("POST", "/flags", { key: "checkout", type: "boolean" });
    assert.deepEqual(await list(environment), []);
    clock.forward(hour);
    await environment.admin("DELETE", "/flags/checkout");
    assert.deepEqual(await list(environment), [], "not evaluated since it was deleted again");
    await report(environment, { checkout: { FLAG_NOT_FOUND: 1 } }, "checkout-api");
    assert.deepEqual(await listed(environment), [
      ["checkout", "FLAG_NOT_FOUND", 8, { "checkout-api": 8 }],
    ]);
  });

  test("of another type end with their flag", async () => {
    const environment = await environmentWith(server, ["size"]);
    await report(environment, { size: { TYPE_MISMATCH: 2 }, gone: { TYPE_MISMATCH: 2 } }, "web");
    assert.deepEqual(await listed(environment), [["size", "TYPE_MISMATCH", 2, { web: 2 }]]);
    await environment.admin("DELETE", "/flags/size");
    assert.deepEqual(await list(environment), []);
    clock.forward(60_000);
    await environment.admin("POST", "/flags", { key: "size", type: "boolean" });
    assert.deepEqual(await list(environment), [], "not evaluated since the flag was created again");
  });

  test("are refused if they can't be right, and ignored if no flag could have the key", async () => {
    const environment = await environmentWith(server, []);
    for (const errors of [{ FLAG_NOT_FOUND: -1 }, { FLAG_NOT_FOUND: 1e9 + 1 }, { OTHER: 1 }, 7]) {
      const response = await environment.client("POST", "/usage", {
        evaluations: [{ key: "a", on: 0, off: 0, errors }],
      });
      assert.equal(response.status, 400, JSON.stringify(errors));
    }
    await report(environment, {
      "": { FLAG_NOT_FOUND: 1 },
      "<script>": { FLAG_NOT_FOUND: 1 },
      none: { FLAG_NOT_FOUND: 0 },
    });
    assert.deepEqual(await list(environment), []);
    assert.equal((await environment.client("GET", "/usage/errors")).status, 403);
    const wrong = await environment.server("GET", "/usage/errors?hours=0");
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /hours must be a whole number from 1 to 2160/);
  });

  test("are listed for the hours that were asked for, 24 by default", async () => {
    const environment = await environmentWith(server, []);
    await report(environment, { early: { FLAG_NOT_FOUND: 1 } });
    await list(environment);
    clock.forward(25 * hour);
    await report(environment, { late: { FLAG_NOT_FOUND: 1 } });
    const keysOf = async (query: string) => (await list(environment, query)).map(({ key }) => key);
    assert.deepEqual(await keysOf(""), ["late"]);
    assert.deepEqual(await keysOf("?hours=26"), ["early", "late"]);
  });

  test("of many keys push out the oldest of the same API key, and no others", async () => {
    const environment = await environmentWith(server, []);
    const many = (name: string) =>
      Object.fromEntries(
        Array.from({ length: 500 }, (_, index) => [`${name}-${index}`, { FLAG_NOT_FOUND: 1 }]),
      );
    await report(environment, { real: { FLAG_NOT_FOUND: 1 } }, "checkout-api");
    await list(environment);
    await report(environment, { first: { FLAG_NOT_FOUND: 1 } }, undefined, "client");
    await list(environment);
    clock.forward(hour);
    await report(environment, many("one"), undefined, "client");
    const after = (await list(environment)).map(({ key }) => key);
    assert.equal(after.length, 501);
    assert.ok(after.includes("real"));
    assert.ok(!after.includes("first"));
    clock.forward(hour);
    // More than the limit at once.
    await report(environment, many("two"), undefined, "client");
    await report(environment, many("three"), undefined, "client");
    assert.equal((await list(environment)).length, 501);
    const rows = await readRows(
      server,
      "select count(*) as count from evaluation_errors join environments on environments.id = environment_id where environments.name = ?",
      environment.name,
    );
    assert.equal(Number(rows[0]?.count), 501);
  });
});

test("errors are stored when the server stops, added up by many, and deleted after 30 days", async () => {
  const environment = await environmentWith(server, []);
  const other = await startTestServer({ HALYARD_DATA: server.folder }, { clock: clock.clock });
  const elsewhere = other.api(environment.keys.server);
  const evaluations = [{ key: "gone", on: 0, off: 0, errors: { FLAG_NOT_FOUND: 2 } }];
  const client = clientNamed("checkout-api");
  assert.equal((await elsewhere("POST", "/usage", { evaluations, client })).status, 204);
  assert.deepEqual(await list(environment), []);
  await Promise.all([
    other.close(),
    ...Array.from({ length: 10 }, () =>
      report(environment, { gone: { FLAG_NOT_FOUND: 1 } }, "checkout-api"),
    ),
  ]);
  assert.deepEqual(await listed(environment), [
    ["gone", "FLAG_NOT_FOUND", 12, { "checkout-api": 12 }],
  ]);
  clock.forward(29 * day);
  await report(environment, { other: { FLAG_NOT_FOUND: 1 } }, "checkout-api");
  assert.equal((await list(environment, "?hours=2160")).length, 2);
  clock.forward(2 * day);
  // It looks for old rows when it starts.
  const last = await startTestServer({ HALYARD_DATA: server.folder }, { clock: clock.clock });
  await until("the end of the old rows", async () => {
    const rows = await readRows(server, "select flag_key from evaluation_errors");
    return rows.length === 1 && rows[0]?.flag_key === "other";
  });
  await last.close();
});
