// Beside on and off: bulk evaluations, counts by variant and by rule, which flags are stale and who changed them last.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { readRows } from "./support/database.ts";
import { day, hour, movableClock } from "./support/movable-clock.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";
import { environmentWith, evaluate, usageOf } from "./support/usage.ts";

const clock = movableClock();
let server: TestServer;
before(async () => {
  // In the middle of an hour: none ends while a test runs.
  clock.forward((hour * 3) / 2 - (Date.now() % hour));
  server = await startTestServer({}, { clock: clock.clock });
});
after(() => server.close());

const hourNow = () => new Date(Math.floor(clock.clock().getTime() / hour) * hour).toISOString();
const make = (...keys: string[]) => environmentWith(server, keys);

test("bulk evaluations are counted for all flags, from the first full hour of a flag", async () => {
  const environment = await make("a");
  clock.forward(hour);
  const askForAll = async () => {
    const answer = await environment.client("POST", "//ofrep/v1/evaluate/flags", {
      context: { targetingKey: "u" },
    });
    assert.equal(answer.status, 200);
  };
  await askForAll();
  await askForAll();
  await evaluate(environment, "a");
  const { lastAskedTogetherAt, hours } = await usageOf(environment, "a");
  assert.deepEqual(hours, [{ hour: hourNow(), on: 0, off: 1, together: 2 }]);
  const age = clock.clock().getTime() - Date.parse(lastAskedTogetherAt ?? "");
  assert.ok(age >= 0 && age < 60_000, `${age} ms ago`);

  clock.forward(2 * hour);
  await environment.admin("POST", "/flags", { key: "later", type: "boolean" });
  const later = await usageOf(environment, "later");
  assert.equal(later.lastAskedTogetherAt, null);
  assert.deepEqual(later.hours, []);
  await askForAll();
  await environment.admin("POST", "/flags", { key: "last", type: "boolean" });
  await askForAll();
  const last = await usageOf(environment, "last");
  assert.notEqual(last.lastAskedTogetherAt, null);
  assert.deepEqual(last.hours, [], "the first request was before it");
  clock.forward(hour);
  await askForAll();
  assert.deepEqual((await usageOf(environment, "last")).hours, [
    { hour: hourNow(), on: 0, off: 0, together: 1 },
  ]);
});

test("stale is what was neither evaluated, nor asked for, nor changed in 30 days", async () => {
  const environment = await make("old", "changed", "evaluated");
  const stale = async () => {
    const answer = await environment.server("GET", "/usage");
    return (answer.body as { key: string; stale: boolean }[])
      .filter((each) => each.stale)
      .map(({ key }) => key);
  };
  assert.deepEqual(await stale(), [], "not what is seconds old");
  clock.forward(31 * day);
  await environment.admin("PATCH", "/flags/changed", { enabled: true });
  await evaluate(environment, "evaluated");
  assert.deepEqual(await stale(), ["old"]);
  await environment.client("POST", "//ofrep/v1/evaluate/flags", { context: {} });
  assert.deepEqual(await stale(), [], "all of them were asked for together");
});

test("who changed each flag last, and when: of the key itself, not of one before it", async () => {
  const environment = await make("a", "b", "c");
  clock.forward(hour);
  const { body: made } = await environment.admin("POST", "/keys", { role: "admin", name: "ann" });
  const { id, key } = made as { id: string; key: string };
  await server.api(key)("PATCH", "/flags/b", { enabled: true });
  const changedAt = clock.clock().getTime();
  await environment.admin("DELETE", "/flags/c");
  await environment.admin("POST", "/flags", { key: "c", type: "boolean" });
  const { body } = await environment.server("GET", "/usage");
  const flags = body as {
    key: string;
    lastChange: { at: string; actor: { keyId: string; name: string } };
  }[];
  const [a, b, c] = flags.map(({ lastChange }) => lastChange);
  assert.deepEqual(b?.actor, { keyId: id, name: "ann" });
  const age = (at = "") => changedAt - Date.parse(at);
  assert.ok(Math.abs(age(b?.at)) < hour / 2);
  assert.ok(Math.abs(age(c?.at)) < hour / 2);
  assert.ok(Math.abs(age(a?.at) - hour) < hour / 2);
  assert.notEqual(a?.actor.keyId, id);
  const one = await environment.server("GET", "/flags/b/usage");
  assert.deepEqual((one.body as { lastChange: unknown }).lastChange, b);
});

suite("by variant and by rule", () => {
  const inPlan = (...values: string[]) => ({ attribute: "plan", op: "in", values });
  const sizes = {
    key: "size",
    type: "variant",
    valueType: "string",
    variants: { small: "S", medium: "M", large: "L" },
    off: "small",
    otherwise: "medium",
    rules: [
      { id: "pro", when: inPlan("pro"), serve: "large" },
      { id: "team", when: inPlan("team"), serve: "large" },
    ],
  };
  const makeSizes = async (): Promise<TestEnvironment> => {
    const environment = await make("plain");
    assert.equal((await environment.admin("POST", "/flags", sizes)).status, 201);
    await environment.admin("PATCH", "/flags/size", { enabled: true });
    return environment;
  };
  const ask = async ({ client }: TestEnvironment, plan: string, times: number) => {
    for (let turn = 0; turn < times; turn += 1) {
      const asked = await client("POST", "//ofrep/v1/evaluate/flags/size", { context: { plan } });
      assert.equal(asked.status, 200, asked.text);
    }
  };
  const hoursOf = async (environment: TestEnvironment, key = "size") =>
    (await usageOf(environment, key)).hours;
  const summaryOf = async (environment: TestEnvironment, key: string) => {
    const { body } = await environment.server("GET", "/usage");
    const flags = body as { key: string; variants?: object; rules?: object }[];
    return flags.find((flag) => flag.key === key);
  };

  test("evaluations are counted by hour and in total, also across changes of the flag", async () => {
    const environment = await makeSizes();
    await ask(environment, "pro", 2);
    await ask(environment, "team", 1);
    await ask(environment, "free", 1);
    const first = {
      hour: hourNow(),
      on: 4,
      off: 0,
      together: 0,
      variants: { large: 3, medium: 1 },
      rules: { pro: 2, team: 1 },
    };
    assert.deepEqual(await hoursOf(environment), [first]);

    clock.forward(hour);
    await ask(environment, "pro", 1);
    const [pro] = sizes.rules;
    await environment.admin("PATCH", "/flags/size", { rules: [{ ...pro, serve: "medium" }] });
    await ask(environment, "pro", 1);
    await environment.admin("PATCH", "/flags/size", { enabled: false });
    await ask(environment, "pro", 3);
    const second = {
      hour: hourNow(),
      on: 2,
      off: 3,
      together: 0,
      variants: { large: 1, medium: 1, small: 3 },
      rules: { pro: 2 },
    };
    assert.deepEqual(await hoursOf(environment), [first, second]);
    const { variants, rules } = (await summaryOf(environment, "size")) ?? {};
    assert.deepEqual(variants, { large: 4, medium: 2, small: 3 });
    assert.deepEqual(rules, { pro: 4, team: 1 });
    const last = await usageOf(environment, "size", "?hours=1");
    assert.deepEqual(last.hours, [second]);
  });

  test("a flag that has neither is told as ever, whatever is reported of it", async () => {
    const environment = await makeSizes();
    const results = { variants: { on: 1 }, rules: { "rule-1": 1 } };
    const reported = await environment.client("POST", "/usage", {
      evaluations: [{ key: "plain", on: 1, off: 0, ...results }],
    });
    assert.equal(reported.status, 204);
    const told = await environment.server("GET", "/flags/plain/usage");
    const counted = `"hours":[{"hour":"${hourNow()}","on":1,"off":0,"together":0}]}`;
    assert.ok(told.text.endsWith(counted), told.text);
    assert.deepEqual(Object.keys((await summaryOf(environment, "plain")) ?? {}), [
      ...["key", "on", "off", "lastEvaluatedAt", "lastAskedTogetherAt", "lastChange", "stale"],
    ]);
  });

  test("reports are added to them, without names that the flag does not have", async () => {
    const environment = await makeSizes();
    await ask(environment, "pro", 1);
    const reported = await environment.client("POST", "/usage", {
      evaluations: [
        {
          ...{ key: "size", on: 9, off: 1 },
          variants: { large: 4, constructor: 7, huge: 7 },
          rules: { pro: 2, gone: 7, team: 0 },
        },
        { key: "size", on: 1, off: 0 },
        { key: "size", on: 0, off: 0, variants: { small: 50 } },
      ],
    });
    assert.equal(reported.status, 204, reported.text);
    const counted = { variants: { large: 5 }, rules: { pro: 3 } };
    assert.deepEqual(await hoursOf(environment), [
      { hour: hourNow(), on: 11, off: 1, together: 0, ...counted },
    ]);
    // What one adds at a time is limited, as for on and off.
    const most = { key: "size", on: 1e9, off: 0, variants: { large: 1e9 } };
    await environment.client("POST", "/usage", { evaluations: Array(11).fill(most) });
    for (let turn = 0; turn < 2; turn += 1) {
      await ask(environment, "free", 1);
      const [hours] = await hoursOf(environment);
      assert.equal(hours?.variants?.large, 1e10 + 5);
    }
  });

  test("what is reported as on and off alone is by variant too where those are the variants", async () => {
    const environment = await makeSizes();
    const rules = [{ id: "pro", when: inPlan("pro"), serve: "on" }];
    await environment.admin("PATCH", "/flags/plain", { rules, otherwise: "off" });
    await environment.client("POST", "/usage", {
      evaluations: [
        { key: "plain", on: 5, off: 0 },
        { key: "size", on: 5, off: 0 },
      ],
    });
    const counted = { hour: hourNow(), on: 5, off: 0, together: 0 };
    assert.deepEqual(await hoursOf(environment, "plain"), [{ ...counted, variants: { on: 5 } }]);
    assert.deepEqual(await hoursOf(environment), [counted]);
  });

  test("a report with names that cannot be, or too many of them, is refused", async () => {
    const environment = await makeSizes();
    const many = Object.fromEntries(Array.from({ length: 61 }, (_, index) => [`v${index}`, 1]));
    for (const member of ["variants", "rules"]) {
      for (const counts of [many, { "-a": 1 }, { "": 1 }, { a: -1 }, { a: "1" }, [1], "a", null]) {
        const { status, text } = await environment.client("POST", "/usage", {
          evaluations: [{ key: "size", on: 1, off: 0, [member]: counts }],
        });
        assert.equal(status, 400, JSON.stringify(counts));
        assert.match(
          text,
          /evaluations\[0\]\.(?:variants|rules)(?:\.a)? must be a(?:n object| whole)/,
        );
      }
    }
    assert.deepEqual(await hoursOf(environment), []);
  });

  test("what is to be an object and is none is refused in words that say so", async () => {
    const environment = await makeSizes();
    const evaluations = [{ key: "size", on: 1, off: 0 }];
    for (const [body, field] of [
      [{ evaluations, client: "checkout" }, "client"],
      [{ evaluations, client: null }, "client"],
      [{ evaluations: [7] }, "evaluations[0]"],
    ] as const) {
      const { status, text } = await environment.client("POST", "/usage", body);
      assert.equal(status, 400);
      assert.ok(text.includes(`"${field} must be a JSON object."`), text);
    }
  });

  test("they go with the flag", async () => {
    const environment = await makeSizes();
    await ask(environment, "pro", 1);
    await hoursOf(environment);
    const names = async () => {
      const rows = await readRows(
        server,
        "select c.name from usage_counts c join environments e on e.id = c.environment_id where e.name = ? order by c.name",
        environment.name,
      );
      return rows.map(({ name }) => name);
    };
    assert.deepEqual(await names(), ["large", "pro"]);
    await ask(environment, "pro", 1);
    await environment.admin("DELETE", "/flags/size");
    assert.deepEqual(await names(), []);
    await environment.admin("POST", "/flags", sizes);
    assert.deepEqual(await hoursOf(environment), []);
  });
});
