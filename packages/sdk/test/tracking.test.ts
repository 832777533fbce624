// Tracked events reach the program's handler with the evaluations of their targeting key, from both clients and both providers.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { createClient, type TrackedEvaluation, type TrackedEvent } from "@halyard/sdk";
import { HalyardProvider } from "@halyard/sdk/openfeature/server";
import { HalyardWebProvider } from "@halyard/sdk/openfeature/web";
import { OpenFeature } from "@openfeature/server-sdk";
import { OpenFeature as WebOpenFeature } from "@openfeature/web-sdk";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { clientOf, contextClientOf } from "./support/clients.ts";
import { newDomain } from "./support/openfeature.ts";
import { booleanFlag } from "./support/scripted-server.ts";
import { makeTypedFlags } from "./support/typed-flags.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer({ HALYARD_OFREP_METADATA: "on" });
});
after(async () => {
  await OpenFeature.close();
  await WebOpenFeature.close();
  await server.close();
});

const environmentWithFlags = async (): Promise<TestEnvironment> => {
  const environment = await server.environment();
  await makeTypedFlags(environment.admin);
  await environment.admin("POST", "/flags", { key: "a", type: "boolean" });
  await environment.admin("PATCH", "/flags/a", { enabled: true });
  return environment;
};

const timeless = ({ since, ...evaluation }: TrackedEvaluation) => {
  assert.ok(since instanceof Date);
  return evaluation;
};
const keysIn = (event: TrackedEvent | undefined) => event?.evaluations.map((each) => each.flagKey);

const ada = { targetingKey: "ada", plan: "pro" };
const bob = { targetingKey: "bob" };

suite("from a program", () => {
  test("an event has the evaluations of its targeting key, with what decided", async (t) => {
    const { keys, name } = await environmentWithFlags();
    const events: TrackedEvent[] = [];
    const onTrack = (event: TrackedEvent) => events.push(event);
    const { client } = clientOf(t, server.url, { key: keys.server, onTrack });
    await client.ready();
    client.isEnabled("a", ada);
    client.stringValue("size", ada, "?");
    client.objectValue("layout", ada, {});
    client.isEnabled("missing", ada, true);
    client.numberValue("limit", bob, 0);
    client.isEnabled("a");

    client.track("purchase", ada, { value: 99.5, currency: "EUR" });
    const [purchase] = events;
    assert.ok(purchase);
    assert.equal(purchase.name, "purchase");
    assert.deepEqual(purchase.context, ada);
    assert.deepEqual(purchase.details, { value: 99.5, currency: "EUR" });
    const of = { version: "2", flagSetId: name };
    assert.deepEqual(purchase.evaluations.map(timeless), [
      { flagKey: "a", value: true, variant: "on", reason: "STATIC", ...of },
      {
        ...{ flagKey: "size", value: "L", variant: "large", reason: "TARGETING_MATCH" },
        ...{ rule: "pro", ...of },
      },
      {
        ...{ flagKey: "layout", value: { columns: 3 }, variant: "large" },
        ...{ reason: "TARGETING_MATCH", rule: "pro", ...of },
      },
      { flagKey: "missing", reason: "ERROR", errorCode: "FLAG_NOT_FOUND" },
    ]);
    for (const { since } of purchase.evaluations) assert.ok(since <= purchase.at);

    client.track("purchase", bob);
    client.track("purchase", {});
    assert.deepEqual(events.slice(1).map(keysIn), [["limit"], []]);
    assert.deepEqual(events[1]?.details, {});
  });

  test("the last value counts, since its first evaluation in a row", async (t) => {
    const { keys, admin } = await environmentWithFlags();
    const events: TrackedEvent[] = [];
    const onTrack = (event: TrackedEvent) => events.push(event);
    const { client } = clientOf(t, server.url, { key: keys.server, onTrack });
    await client.ready();
    const evaluationAfterTrack = () => {
      client.track("purchase", ada);
      const evaluation = events.at(-1)?.evaluations[0];
      assert.ok(evaluation);
      return evaluation;
    };
    client.isEnabled("a", ada);
    const first = evaluationAfterTrack();
    await until("another millisecond", () => Date.now() > first.since.getTime());
    client.isEnabled("a", ada);
    assert.deepEqual(evaluationAfterTrack(), first);

    await admin("PATCH", "/flags/a", { enabled: false });
    await until("the change", () => !client.isEnabled("a"));
    assert.deepEqual(evaluationAfterTrack(), first, "ada has not seen it yet");
    client.isEnabled("a", ada);
    const second = evaluationAfterTrack();
    assert.deepEqual([second.value, second.version], [false, "3"]);
    assert.ok(second.since > first.since);
  });

  test("memory is bounded: the evaluations made longest ago go first", () => {
    const events: TrackedEvent[] = [];
    const client = createClient({
      bootstrap: [booleanFlag("a", true), booleanFlag("b", true)],
      onTrack: (event) => events.push(event),
      trackedEvaluations: 3,
    });
    for (const targetingKey of ["ada", "bob"]) client.isEnabled("a", { targetingKey });
    client.isEnabled("b", { targetingKey: "ada" });
    client.isEnabled("a", { targetingKey: "ada" });
    client.isEnabled("a", { targetingKey: "eve" });
    const tooLong = "x".repeat(1_025);
    client.isEnabled("a", { targetingKey: tooLong });
    for (const targetingKey of ["ada", "bob", "eve", tooLong]) client.track("e", { targetingKey });
    assert.deepEqual(events.map(keysIn), [["b", "a"], [], ["a"], []]);

    for (const flag of ["a", "b", "c", "d"]) client.isEnabled(flag, { targetingKey: "flo" });
    client.track("e", { targetingKey: "flo" });
    assert.deepEqual(events.slice(-1).map(keysIn), [["b", "c", "d"]]);
  });

  test("evaluations and track never throw, whatever the fallback and the context are", () => {
    const events: TrackedEvent[] = [];
    const client = createClient({
      overrides: { a: true },
      onTrack: (event) => events.push(event),
      log: false,
    });
    const fallback: Record<string, unknown> = {};
    fallback.self = fallback;
    for (const key of ["missing", "missing"]) client.objectValue(key, ada, fallback);
    client.track("purchase", ada);
    assert.deepEqual(events.map(keysIn), [["missing"]]);
    assert.equal("value" in (events[0]?.evaluations[0] ?? {}), false);
    const unreadable = {
      ...ada,
      get plan(): string {
        throw new Error("not now");
      },
    };
    client.track("purchase", unreadable);
    assert.deepEqual(events.at(-1)?.context, {});
  });

  test("a handler that fails is logged and affects nothing, and without one nothing happens", async () => {
    const silent = createClient({ overrides: { a: true } });
    silent.track("purchase", ada, { value: 1 });
    const logged: string[] = [];
    for (const onTrack of [
      () => {
        throw new Error("mine");
      },
      () => Promise.reject(new Error("mine")),
    ]) {
      const client = createClient({
        overrides: { a: true },
        onTrack,
        log: (message, { code }) => logged.push(`${code} ${message}`),
      });
      client.track("purchase", ada, { value: 1 });
      assert.equal(client.isEnabled("a", ada), true);
    }
    await until("the messages", () => logged.length === 2);
    for (const message of logged) assert.match(message, /^LISTENER_FAILED .*"track".*mine/);
  });
});

suite("from a page", () => {
  test("an event has the evaluations of the current context's targeting key", async (t) => {
    const { keys, name } = await environmentWithFlags();
    const events: TrackedEvent[] = [];
    const onTrack = (event: TrackedEvent) => events.push(event);
    const { client } = contextClientOf(t, server.url, { key: keys.client, onTrack });
    await client.ready();
    client.isEnabled("a");
    client.track("viewed");
    await client.setContext(ada);
    client.stringValue("size", "?");
    client.track("purchase", { value: 5 });
    await client.setContext({ ...ada, plan: "free" });
    client.track("purchase");
    await client.setContext(bob);
    client.track("purchase");

    assert.deepEqual(
      events.map(({ context }) => context.targetingKey),
      [undefined, "ada", "ada", "bob"],
    );
    assert.deepEqual(events.map(keysIn), [["a"], ["size"], ["size"], []]);
    const of = { version: "2", flagSetId: name };
    assert.deepEqual(events[1]?.evaluations.map(timeless), [
      { flagKey: "size", value: "L", variant: "large", reason: "TARGETING_MATCH", ...of },
    ]);
  });
});

suite("through OpenFeature", () => {
  test("@openfeature/server-sdk", async () => {
    const { keys } = await environmentWithFlags();
    const events: TrackedEvent[] = [];
    const domain = newDomain();
    const provider = new HalyardProvider({
      url: server.url,
      key: keys.server,
      onTrack: (event) => events.push(event),
    });
    await OpenFeature.setProviderAndWait(domain, provider);
    const client = OpenFeature.getClient(domain);
    await client.getStringValue("size", "?", ada);
    await client.getBooleanValue("a", false, bob);
    client.track("purchase", ada, { value: 99.5, currency: "EUR" });
    assert.deepEqual(events.map(keysIn), [["size"]]);
    assert.deepEqual(events[0]?.details, { value: 99.5, currency: "EUR" });
    assert.equal(events[0]?.evaluations[0]?.variant, "large");
  });

  test("@openfeature/web-sdk", async () => {
    const { keys } = await environmentWithFlags();
    const events: TrackedEvent[] = [];
    const domain = newDomain();
    await WebOpenFeature.setContext(domain, ada);
    const provider = new HalyardWebProvider({
      url: server.url,
      key: keys.client,
      onTrack: (event) => events.push(event),
    });
    await WebOpenFeature.setProviderAndWait(domain, provider);
    const client = WebOpenFeature.getClient(domain);
    client.getStringValue("size", "?");
    client.track("purchase", { value: 5 });
    await WebOpenFeature.setContext(domain, bob);
    client.track("purchase");
    assert.deepEqual(events.map(keysIn), [["size"], []]);
    assert.deepEqual(
      events.map(({ context }) => context.targetingKey),
      ["ada", "bob"],
    );
  });
});
