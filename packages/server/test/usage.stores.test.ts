// Counts of evaluations: what evaluation and reports add, and what can be read of them.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { readRows } from "./support/database.ts";
import { day, hour, movableClock } from "./support/movable-clock.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";
import { environmentWith, evaluate, usageOf } from "./support/usage.ts";

const clock = movableClock();
let server: TestServer;
before(async () => {
  // In the middle of an hour: none ends while a test runs.
  clock.forward((hour * 3) / 2 - (Date.now() % hour));
  server = await startTestServer({}, { clock: clock.clock });
});
after(() => server.close());

const countsOf = async (environment: TestEnvironment, key: string, query = "") => {
  const { lastChange: _, ...counts } = await usageOf(environment, key, query);
  return counts;
};
const report = (environment: TestEnvironment, ...entries: [string, number, number][]) =>
  environment.client("POST", "/usage", {
    evaluations: entries.map(([key, on, off]) => ({ key, on, off })),
  });
const hourNow = () => new Date(Math.floor(clock.clock().getTime() / hour) * hour).toISOString();
const make = (...keys: string[]) => environmentWith(server, keys);

suite("counting", () => {
  test("evaluations of one flag are counted by their value, at once for whoever asks here", async () => {
    const environment = await make("a");
    assert.deepEqual(await countsOf(environment, "a"), {
      key: "a",
      lastEvaluatedAt: null,
      lastAskedTogetherAt: null,
      hours: [],
    });
    for (let turn = 0; turn < 3; turn += 1) await evaluate(environment, "a");
    await environment.admin("PATCH", "/flags/a", { enabled: true });
    for (let turn = 0; turn < 5; turn += 1) await evaluate(environment, "a");
    const { lastEvaluatedAt, hours } = await countsOf(environment, "a");
    assert.deepEqual(hours, [{ hour: hourNow(), on: 5, off: 3, together: 0 }]);
    const age = clock.clock().getTime() - Date.parse(lastEvaluatedAt ?? "");
    assert.ok(age >= 0 && age < 60_000, `${age} ms ago`);
  });

  test("reports of others are added; flags that do not exist are passed over", async () => {
    const environment = await make("a", "b");
    const taken = await report(environment, ["a", 120, 3], ["gone", 7, 7], ["b", 0, 1]);
    assert.equal(taken.status, 204);
    assert.equal(taken.headers.get("access-control-allow-origin"), "*");
    await report(environment, ["a", 1, 0]);
    assert.deepEqual((await countsOf(environment, "a")).hours, [
      { hour: hourNow(), on: 121, off: 3, together: 0 },
    ]);
    assert.deepEqual((await countsOf(environment, "b")).hours, [
      { hour: hourNow(), on: 0, off: 1, together: 0 },
    ]);
    const rows = await readRows(server, "select flag_key from usage where flag_key = ?", "gone");
    assert.deepEqual(rows, []);
  });

  test("a report of nothing leaves no trace", async () => {
    const environment = await make("a");
    await report(environment, ["a", 0, 0]);
    assert.deepEqual(await countsOf(environment, "a"), {
      key: "a",
      lastEvaluatedAt: null,
      lastAskedTogetherAt: null,
      hours: [],
    });
  });

  test("what many report at once is added up exactly", async () => {
    const environment = await make("a");
    const reads = Array.from({ length: 20 }, () => countsOf(environment, "a"));
    await Promise.all([
      ...Array.from({ length: 20 }, () => report(environment, ["a", 2, 1])),
      ...reads,
    ]);
    assert.deepEqual((await countsOf(environment, "a")).hours, [
      { hour: hourNow(), on: 40, off: 20, together: 0 },
    ]);
  });

  test("a flag's counts go with it, and do not come back with its key", async () => {
    const environment = await make("a");
    await report(environment, ["a", 10, 10]);
    await countsOf(environment, "a");
    // Counted and not yet written down.
    await report(environment, ["a", 5, 5]);
    await environment.admin("DELETE", "/flags/a");
    await environment.admin("POST", "/flags", { key: "a", type: "boolean" });
    assert.deepEqual(await countsOf(environment, "a"), {
      key: "a",
      lastEvaluatedAt: null,
      lastAskedTogetherAt: null,
      hours: [],
    });
  });
});

suite("reading", () => {
  test("the hours of a flag, oldest first, as far back as asked", async () => {
    const environment = await make("a");
    const hours: string[] = [];
    for (const [on, off] of [
      [1, 0],
      [2, 1],
      [3, 0],
    ] as const) {
      await report(environment, ["a", on, off]);
      await countsOf(environment, "a");
      hours.push(hourNow());
      clock.forward(10 * hour);
    }
    await report(environment, ["a", 4, 0]);
    const { hours: all } = await countsOf(environment, "a", "?hours=31");
    assert.deepEqual(all, [
      { hour: hours[0], on: 1, off: 0, together: 0 },
      { hour: hours[1], on: 2, off: 1, together: 0 },
      { hour: hours[2], on: 3, off: 0, together: 0 },
      { hour: hourNow(), on: 4, off: 0, together: 0 },
    ]);
    const count = async (query: string) => (await countsOf(environment, "a", query)).hours.length;
    assert.equal(await count(""), 3);
    assert.equal(await count("?hours=30"), 3);
    assert.equal(await count("?hours=10"), 1);
    assert.equal(await count("?hours=11"), 2);
    assert.equal(await count("?hours=1"), 1);
    assert.equal(await count("?hours=2160"), 4);
  });

  test("every flag of the environment, sorted by key, with when it was last evaluated", async () => {
    const environment = await make("b", "never", "B", "a");
    const other = await make("a");
    await report(other, ["a", 1_000, 0]);
    await report(environment, ["b", 3, 4], ["a", 1, 1]);
    await environment.server("GET", "/usage");
    clock.forward(30 * hour);
    await report(environment, ["B", 5, 0], ["a", 0, 2]);
    const read = async (query: string) => {
      const answer = await environment.server("GET", `/usage${query}`);
      assert.equal(answer.status, 200);
      return answer.body as { key: string; on: number; off: number; lastEvaluatedAt: string }[];
    };
    const recent = await read("");
    assert.deepEqual(
      recent.map(({ key, on, off }) => [key, on, off]),
      [
        ["B", 5, 0],
        ["a", 0, 2],
        ["b", 0, 0],
        ["never", 0, 0],
      ],
    );
    const [, , b, never] = recent;
    assert.equal(never?.lastEvaluatedAt, null);
    // Longer ago than the hours that were asked for, and told all the same.
    const age = clock.clock().getTime() - Date.parse(b?.lastEvaluatedAt ?? "");
    assert.ok(age >= 30 * hour && age < 31 * hour);
    assert.deepEqual(
      (await read("?hours=100")).map(({ key, on, off }) => [key, on, off]),
      [
        ["B", 5, 0],
        ["a", 1, 3],
        ["b", 3, 4],
        ["never", 0, 0],
      ],
    );
  });

  test("a flag that is not there: 404; what cannot be asked: 400 that says what can", async () => {
    const environment = await make("a");
    for (const key of ["nope", "%00", "a%2Fb"]) {
      const answer = await environment.server("GET", `/flags/${key}/usage`);
      assert.equal(answer.status, 404, key);
    }
    for (const query of ["?hours=0", "?hours=2161", "?hours=1.5", "?hours=x", "?hours=-1"]) {
      for (const path of ["/usage", "/flags/a/usage"]) {
        const answer = await environment.server("GET", path + query);
        assert.equal(answer.status, 400, path + query);
        assert.match(answer.text, /hours must be a whole number from 1 to 2160/);
      }
    }
    assert.equal((await environment.server("GET", "/usage?since=1")).status, 400);
  });

  test("reports need a client key, reading a server key", async () => {
    const environment = await make("a");
    assert.equal((await environment.client("GET", "/usage")).status, 403);
    assert.equal((await environment.client("GET", "/flags/a/usage")).status, 403);
    const body = { evaluations: [{ key: "a", on: 1, off: 0 }] };
    assert.equal((await server.anonymous("POST", "/usage", body)).status, 401);
    assert.equal((await environment.server("POST", "/usage", body)).status, 204);
    assert.equal((await environment.admin("POST", "/usage", body)).status, 204);
    const preflight = await fetch(`${server.url}/api/v1/usage`, { method: "OPTIONS" });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
  });

  test("a report that cannot be right is refused as a whole", async () => {
    const environment = await make("a");
    const entry = { key: "a", on: 1, off: 1 };
    for (const body of [
      {},
      { evaluations: [] },
      { evaluations: {} },
      { evaluations: Array.from({ length: 1_001 }, () => entry) },
      { evaluations: [entry, { ...entry, on: -1 }] },
      { evaluations: [entry, { ...entry, off: 0.5 }] },
      { evaluations: [entry, { ...entry, off: "1" }] },
      { evaluations: [entry, { ...entry, on: 1_000_000_001 }] },
      { evaluations: [entry, { ...entry, more: 1 }] },
      { evaluations: [entry, { key: "a", on: 1 }] },
      { evaluations: [entry, { ...entry, key: 7 }] },
      { evaluations: [entry], at: "now" },
    ]) {
      const answer = await environment.client("POST", "/usage", body);
      assert.equal(answer.status, 400, JSON.stringify(body).slice(0, 100));
    }
    assert.deepEqual((await countsOf(environment, "a")).hours, []);
    const most = { evaluations: Array.from({ length: 1_000 }, () => ({ ...entry, on: 1e9 })) };
    assert.equal((await environment.client("POST", "/usage", most)).status, 204);
    // Nobody evaluates so often: what one adds at a time is limited, and stays exact.
    const [first] = (await countsOf(environment, "a")).hours;
    assert.deepEqual([first?.on, first?.off], [1e10, 1_000]);
  });
});

test("what was counted is written down when the server stops", async () => {
  const environment = await make("a");
  const other = await startTestServer({ HALYARD_DATA: server.folder }, { clock: clock.clock });
  const counted = await other.api(environment.keys.client)("POST", "/usage", {
    evaluations: [{ key: "a", on: 7, off: 2 }],
  });
  assert.equal(counted.status, 204);
  assert.deepEqual((await countsOf(environment, "a")).hours, []);
  await other.close();
  assert.deepEqual((await countsOf(environment, "a")).hours, [
    { hour: hourNow(), on: 7, off: 2, together: 0 },
  ]);
});

test("hours older than 90 days go, and no others", async () => {
  const [one, two] = [await make("a", "b"), await make("a")];
  const rules = [
    { id: "staff", when: { attribute: "staff", op: "in", values: [true] }, serve: "on" },
  ];
  await one.admin("PATCH", "/flags/a", { rules, otherwise: "off" });
  const targeted = { key: "a", on: 1, off: 0, variants: { on: 1 }, rules: { staff: 1 } };
  // One environment is done with long before the other: what it keeps must not go meanwhile.
  for (const [environment, hours] of [
    [one, 3],
    [two, 7],
  ] as const) {
    for (let turn = 0; turn < hours; turn += 1) {
      await report(environment, ["a", 1, 0], ["b", 1, 0]);
      await environment.client("POST", "/usage", { evaluations: [targeted] });
      await countsOf(environment, "a");
      clock.forward(hour);
    }
  }
  const kept = hourNow();
  await one.client("POST", "/usage", { evaluations: [targeted] });
  await countsOf(one, "a");
  clock.forward(90 * day - (hour * 3) / 4);
  // It looks for what is old when it starts.
  const other = await startTestServer({ HALYARD_DATA: server.folder }, { clock: clock.clock });
  await until("the end of the old hours", async () => {
    const rows = await readRows(server, "select flag_key, hour from usage order by hour");
    return rows.length === 1 && rows[0]?.hour === Date.parse(kept);
  });
  await other.close();
  const results = await readRows(server, "select hour, name from usage_counts order by name");
  assert.deepEqual(
    results.map(({ hour, name }) => [hour, name]),
    [
      [Date.parse(kept), "on"],
      [Date.parse(kept), "staff"],
    ],
  );
});
