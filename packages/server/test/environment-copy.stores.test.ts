// A copy of an environment is equal to it at one moment, whatever changes meanwhile; one that expires is deleted once.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { after, before, test } from "node:test";
import { parseConfig } from "@halyard/server";
import { newIds, openStore, random } from "@halyard/server/operator";
import { createEnvironments } from "../src/features/environments/environments.ts";
import { operator } from "../src/platform/auth/principal.ts";
import type { Store } from "../src/platform/database/store.ts";
import { listRemovedEnvironments } from "../src/platform/environments.ts";
import type { Api } from "./support/api.ts";
import { readRows, writeRows } from "./support/database.ts";
import { openStream } from "./support/event-reader.ts";
import { serveHalyard } from "./support/halyard-process.ts";
import { interleaved } from "./support/interleaved.ts";
import { hour, minute, movableClock } from "./support/movable-clock.ts";
import { dropDatabase } from "./support/postgres.ts";
import { newFolder, startTestServer, type TestServer } from "./support/server.ts";
import { storeSettings } from "./support/test-store.ts";
import { until } from "./support/until.ts";

const folder = newFolder();
const time = movableClock();
let server: TestServer;
let second: TestServer;
let owner: Api;
let store: Store;
before(async () => {
  server = await startTestServer({ HALYARD_DATA: folder }, { clock: time.clock });
  second = await startTestServer({ HALYARD_DATA: folder }, { clock: time.clock });
  owner = server.api(await (await server.environment()).newKey("owner"));
  store = await openStore(parseConfig(await storeSettings(folder)));
});
after(async () => {
  await store.close();
  await server.close();
  await second.close();
  rmSync(folder, { recursive: true, force: true });
  await dropDatabase(basename(folder));
});

const done = async (api: Api, method: string, path: string, body?: object): Promise<void> => {
  const answer = await api(method, path, body);
  assert.ok(answer.status < 300, answer.text);
};

const members = Array.from({ length: 2_300 }, (_, index) => `user-${index}`);
const inSegment = (segment: string) => ({ when: { segment: [segment] }, serve: "on" });

/** Of everything that a copy has to take along. */
const fill = async (admin: Api): Promise<void> => {
  const beta = { key: "beta", include: members.slice(0, 900), exclude: ["user-7"] };
  await done(admin, "POST", "/segments", beta);
  await done(admin, "POST", "/segments/beta/members", { include: { add: members.slice(900) } });
  const when = { attribute: "plan", op: "in", values: ["pro"] };
  await done(admin, "POST", "/segments", { key: "pro", description: "Pays", when });
  const flags = [
    { key: "plain", type: "boolean", description: "ä" },
    { key: "half", type: "rollout", percentage: 50 },
    { key: "beta", type: "boolean", otherwise: "off", rules: [inSegment("beta")] },
    {
      key: "size",
      type: "variant",
      valueType: "string",
      variants: { small: "S", large: "L" },
      off: "small",
      otherwise: [
        { variant: "small", share: 30 },
        { variant: "large", share: 70 },
      ],
      rules: [{ when: { segment: ["pro"] }, serve: "large" }],
    },
    { key: "both", type: "boolean", requires: [{ flag: "size", variant: "large" }] },
  ];
  for (const flag of flags) await done(admin, "POST", "/flags", flag);
  for (const { key } of flags.slice(1))
    await done(admin, "PATCH", `/flags/${key}`, { enabled: true });
};

/** Every flag and every segment with its members, as GET shows them. */
const contentOf = async (api: Api) => {
  const segments = (await api("GET", "/segments")).body as { key: string }[];
  const whole = segments.map(async ({ key }) => (await api("GET", `/segments/${key}`)).body);
  const named = segments.map(async ({ key }) => (await api("GET", `/segments/${key}/flags`)).body);
  return {
    flags: (await api("GET", "/flags")).body,
    segments: await Promise.all(whole),
    named: await Promise.all(named),
  };
};

const copyOf = async (source: string, rest: object) => {
  const made = await owner("POST", "/environments", { copyOf: source, ...rest });
  assert.equal(made.status, 201, made.text);
  return made.body as { flags: number; expiresAt: string; key: { key: string } };
};

test("a copy has the same flags and segments, and gives everybody the same", async () => {
  const { name, admin } = await server.environment();
  await fill(admin);
  await done(admin, "POST", "/webhooks", { url: "https://example.com/hook", events: ["*"] });
  const made = await copyOf(name, { name: "copied", label: "A copy" });
  assert.equal(made.flags, 5);
  const copied = server.api(made.key.key);
  assert.deepEqual(await contentOf(copied), await contentOf(admin));
  assert.deepEqual((await copied("GET", "/webhooks")).body, []);
  assert.equal(((await copied("GET", "/keys")).body as unknown[]).length, 1);
  const history = (await copied("GET", "/history")).body as { subject: string; after: object }[];
  assert.deepEqual(history.map(({ subject }) => subject).sort(), ["environment", "key"]);
  assert.ok(history.some((entry) => "copyOf" in entry.after && entry.after.copyOf === name));

  const path = "//ofrep/v1/evaluate/flags";
  for (let index = 0; index < 200; index += 1) {
    const targetingKey = `user-${Math.floor(Math.random() * 4_000)}`;
    const context = { targetingKey, ...(Math.random() < 0.5 && { plan: "pro" }) };
    const [one, other] = await Promise.all([
      admin("POST", path, { context }),
      second.api(made.key.key)("POST", path, { context }),
    ]);
    const [given, wanted] = [other, one].map(({ body }) => (body as { flags: unknown }).flags);
    assert.deepEqual(given, wanted, targetingKey);
  }

  await done(copied, "PATCH", "/flags/plain", { enabled: true });
  await done(copied, "DELETE", "/flags/half");
  await done(copied, "POST", "/segments/beta/members", { include: { remove: ["user-1"] } });
  const explained = await copied("POST", "/flags/plain/explain", { context: {}, revision: 0 });
  assert.equal(explained.status, 200, "as it was when it was copied");
  const then = await copied("GET", "/flags?revision=0");
  assert.deepEqual(then.body, (await admin("GET", "/flags")).body);
  const earlier = await copied("GET", "/flags?at=2020-01-01");
  assert.equal(earlier.status, 409, "its history begins with the copy");
  assert.equal((await admin("GET", "/flags/half")).status, 200, "each goes its own way");
  assert.equal((await owner("DELETE", "/environments/copied?flags=true")).status, 204);
});

const environmentsOn = (used: Store) =>
  createEnvironments(used, { clock: time.clock, random, newIds, maxEnvironments: 100 });

test("what changes while it is copied is in the copy as it is at the end", async () => {
  const { name, admin } = await server.environment();
  await fill(admin);
  const add = async (key: string) => {
    await done(admin, "POST", "/segments", { key, include: ["x"] });
    const flag = { key, type: "boolean", otherwise: "off", rules: [inSegment(key)] };
    await done(admin, "POST", "/flags", flag);
  };
  const remove = async (key: string) => {
    await done(admin, "DELETE", `/flags/${key}`);
    await done(admin, "DELETE", `/segments/${key}`);
  };
  await add("a-goes");
  await add("z-goes");
  let parts = 0;
  const steps = [
    async () => undefined,
    () => add("a-early"),
    // Segments are copied; their members, in several parts, then flags, then what flags name.
    () => remove("a-goes"),
    () => done(admin, "POST", "/segments/beta/members", { include: { remove: ["user-5"] } }),
    async () => {
      await remove("z-goes");
      await add("z-late");
    },
    () => done(admin, "PATCH", "/flags/beta", { rules: [inSegment("pro")] }),
    () => done(admin, "PATCH", "/segments/pro", { description: "Changed" }),
    () => done(admin, "POST", "/segments/beta/members", { include: { add: ["zoe"] } }),
    () => add("m-last"),
  ];
  const made = await environmentsOn(interleaved(store, steps)).createWithKey(
    { actor: operator },
    { name: "moving", copyOf: name },
    { onProgress: () => (parts += 1) },
  );
  assert.ok(made.result.ok);
  assert.ok(parts >= 4, String(parts));
  const copied = server.api(made.result.value.key.text);
  assert.deepEqual(await contentOf(copied), await contentOf(admin));
  const { flagCount } = made.result.value.environment;
  assert.equal(flagCount, ((await copied("GET", "/flags")).body as unknown[]).length);
});

test("a copy that nobody continues is never seen, and its name is free again", async () => {
  const { name, admin } = await server.environment();
  await fill(admin);
  const end = () => Promise.reject(new Error("the process ends"));
  const nothing = async () => undefined;
  const copying = environmentsOn(interleaved(store, [nothing, nothing, nothing, end]));
  const wanted = { name: "half-copied", copyOf: name };
  await assert.rejects(copying.createWithKey({ actor: operator }, wanted), /the process ends/);
  const taken = await owner("POST", "/environments", { name: "half-copied" });
  assert.match(taken.text, /"half-copied\\" is being created/);
  const listed = (await owner("GET", "/environments")).body as { name: string }[];
  assert.ok(!listed.some((environment) => environment.name === "half-copied"));
  assert.equal((await owner("DELETE", "/environments/half-copied")).status, 404);
  time.forward(2 * minute);
  await until("its name is free", async () => {
    return (await owner("POST", "/environments", { name: "half-copied" })).status === 201;
  });
});

test("one that expires is deleted once, by one of two instances, with its streams; unless it is kept", async () => {
  const { name, admin } = await server.environment();
  await fill(admin);
  const { expiresAt, key } = await copyOf(name, { name: "preview", expiresIn: "90m" });
  assert.ok(Math.abs(Date.parse(expiresAt) - time.clock().getTime() - 1.5 * hour) < hour / 2);
  await copyOf(name, { name: "kept", expiresIn: "90m" });
  await done(owner, "PATCH", "/environments/kept", { expiresAt: null });
  const streams = await Promise.all(
    [server, second].map(({ url }) =>
      openStream(`${url}/api/v1/stream`, { authorization: `Bearer ${key.key}` }),
    ),
  );
  assert.deepEqual(
    streams.map(({ status }) => status),
    [200, 200],
  );
  time.forward(2 * hour);
  await Promise.all(streams.map((stream) => stream.untilEnded()));
  const ended = await until("it is gone", async () => {
    const removed = await listRemovedEnvironments(store);
    const own = removed.filter((environment) => environment.name === "preview");
    return own.every(({ endedAt }) => endedAt !== null) ? own : undefined;
  });
  assert.deepEqual(
    ended.map(({ flags, actor }) => [flags, actor?.name]),
    [[5, "halyard"]],
  );
  assert.equal((await second.api(key.key)("GET", "/flags")).status, 401);
  const listed = (await owner("GET", "/environments")).body as { name: string }[];
  assert.deepEqual(
    ["kept", "preview"].map((each) => listed.some((environment) => environment.name === each)),
    [true, false],
  );
});

test("a deletion that a kill interrupts is finished after the next start", async (t) => {
  const place = { folder: newFolder() };
  const key = "an-admin-key-that-is-left-0815";
  const settings = { HALYARD_BOOTSTRAP_KEYS: `development=${key}`, HALYARD_LOG_LEVEL: "fatal" };
  let process = await serveHalyard(place.folder, settings);
  t.after(async () => {
    process.kill("SIGKILL");
    await process.ended;
    rmSync(place.folder, { recursive: true, force: true });
    await dropDatabase(basename(place.folder));
  });
  // What the operator would do with a command.
  await writeRows(place, "update api_keys set role = 'owner' where given = 1");
  await writeRows(place, "update environments set keys_revision = keys_revision + 1");
  const call = (method: string, path: string, body?: object) =>
    fetch(`${process.url}/api/v1${path}`, {
      method,
      headers: { "x-api-key": key, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  await until("the key is an owner's", async () => (await call("GET", "/users")).ok);
  const left = async () =>
    Number((await readRows(place, "select count(*) as n from segment_members"))[0]?.n);
  // On a busy machine the deletion may be over before the kill: then of more members.
  for (let members = 14_000; ; members *= 4) {
    assert.ok(members < 1_000_000, "no kill came in time");
    const name = `short-lived-${members}`;
    const made = await call("POST", "/environments", { name });
    assert.equal(made.status, 201);
    await writeRows(
      place,
      `with recursive numbers(number) as (select 1 union all select number + 1 from numbers where number < ${members})
       insert into segment_members (environment_id, segment_key, list, member)
       select environments.id, 'beta', 'include', 'user-' || number from numbers, environments where name = ?`,
      name,
    );
    assert.equal((await call("DELETE", `/environments/${name}`)).status, 202);
    process.kill("SIGKILL");
    await process.ended;
    if ((await left()) > 0) break;
    process = await serveHalyard(place.folder, settings);
  }
  process = await serveHalyard(place.folder, settings);
  await until("it is finished", async () => {
    const rows = await readRows(place, "select ended_at from removed_environments");
    return rows.every(({ ended_at }) => ended_at != null);
  });
  assert.equal(await left(), 0);
});
