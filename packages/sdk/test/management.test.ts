// The management calls against a started server: every route, with its types, versions, pages and errors.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import {
  createManagement,
  type Management,
  type Result,
  type Success,
} from "@halyard/sdk/management";
import { signInUser } from "../../server/test/support/people.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const managed = async (): Promise<Management> => {
  const { keys } = await server.environment();
  return createManagement({ url: `${server.url}/`, key: keys.admin });
};

function assertDone<T>(result: Result<T>): asserts result is Success<T> {
  assert.ok(result.ok, JSON.stringify(result));
}
const done = <T>(result: Result<T>): T => {
  assertDone(result);
  return result.value;
};
const errorOf = <T>(result: Result<T>) => {
  assert.ok(!result.ok, JSON.stringify(result));
  return result.error;
};

suite("flags", () => {
  test("create, read, change, delete, with versions", async () => {
    const { flags } = await managed();
    const made = await flags.create({ key: "a", type: "rollout", percentage: 2.5 });
    const flag = { key: "a", type: "rollout", enabled: false, percentage: 2.5, description: null };
    assert.deepEqual(made, { ok: true, value: flag, version: 1 });
    assert.deepEqual(await flags.get("a"), made);
    const changed = await flags.update("a", { enabled: true }, { ifMatch: 1 });
    assert.deepEqual(changed, { ok: true, value: { ...flag, enabled: true }, version: 2 });
    const refused = errorOf(await flags.update("a", { percentage: 7 }, { ifMatch: 1 }));
    assert.equal(refused.code, "PRECONDITION_FAILED");
    assert.deepEqual(
      [refused.status, refused.current, refused.currentVersion],
      [412, { ...flag, enabled: true }, 2],
    );
    assert.deepEqual(done(await flags.update("a", { description: "x" })).description, "x");
    assert.equal(errorOf(await flags.delete("a", { ifMatch: 1 })).code, "PRECONDITION_FAILED");
    assert.deepEqual(await flags.delete("a"), { ok: true, value: undefined });
    assert.equal(errorOf(await flags.get("a")).code, "NOT_FOUND");
    const history = done(await flags.history("a"));
    assert.deepEqual(
      history.map(({ version }) => version),
      [4, 3, 2, 1],
    );
    assert.deepEqual(history.at(-1)?.after, flag);
  });

  test("errors are values with their details", async () => {
    const { flags } = await managed();
    const error = errorOf(await flags.create({ key: "", type: "nothing" as never }));
    assert.equal(error.code, "VALIDATION_FAILED");
    assert.equal(error.status, 400);
    assert.deepEqual(error.details?.map(({ field }) => field).toSorted(), ["key", "type"]);
    done(await flags.create({ key: "a", type: "boolean" }));
    assert.equal(errorOf(await flags.create({ key: "a", type: "boolean" })).code, "CONFLICT");
    assert.equal(errorOf(await flags.get("no/such flag?")).code, "NOT_FOUND");
    const { keys } = await server.environment();
    const reader = createManagement({ url: server.url, key: keys.server });
    assert.equal(
      errorOf(await reader.flags.create({ key: "b", type: "boolean" })).code,
      "FORBIDDEN",
    );
    const nobody = createManagement({ url: server.url, key: "hal_nobody" });
    assert.equal(errorOf(await nobody.flags.list()).code, "UNAUTHORIZED");
  });

  test("lists, filters and pages", async () => {
    const { flags } = await managed();
    const keys = ["a", "b", "c", "d", "e"];
    for (const key of keys)
      done(await flags.create({ key, type: key === "c" ? "rollout" : "boolean" }));
    const list = await flags.list();
    assertDone(list);
    assert.equal(list.version, 5);
    assert.deepEqual(
      list.value.map(({ key }) => key),
      keys,
    );
    assert.deepEqual(
      done(await flags.list({ type: "rollout" })).map(({ key }) => key),
      ["c"],
    );
    assert.deepEqual(done(await flags.list({ enabled: true })), []);

    const page = await flags.list({ limit: 2 });
    assertDone(page);
    const { next } = page;
    assert.ok(next !== undefined);
    assert.deepEqual(
      done(await flags.list({ limit: 2, cursor: next })).map(({ key }) => key),
      ["c", "d"],
    );

    const seen: string[][] = [];
    for await (const each of flags.pages({ limit: 2 })) seen.push(done(each).map(({ key }) => key));
    assert.deepEqual(seen, [["a", "b"], ["c", "d"], ["e"]]);
    const failing: Result<unknown>[] = [];
    for await (const each of flags.pages({ limit: 0 })) failing.push(each);
    assert.deepEqual(
      failing.map(({ ok }) => ok),
      [false],
    );
    const versions: number[] = [];
    done(await flags.update("a", { enabled: true }));
    for await (const each of flags.historyPages("a", { limit: 1 })) {
      versions.push(...done(each).map(({ version }) => version));
    }
    assert.deepEqual(versions, [2, 1]);
  });

  test("an idempotency key of one's own carries the call out once", async () => {
    const { flags } = await managed();
    const options = { idempotencyKey: "deploy-7" };
    const first = await flags.create({ key: "a", type: "boolean" }, options);
    done(await flags.update("a", { enabled: true }));
    assert.deepEqual(await flags.create({ key: "a", type: "boolean" }, options), first);
    assert.equal(
      errorOf(await flags.create({ key: "b", type: "boolean" }, options)).code,
      "CONFLICT",
    );
  });

  test("usage", async () => {
    const management = await managed();
    done(await management.flags.create({ key: "a", type: "boolean" }));
    const ofFlag = done(await management.flags.usage("a", { hours: 2 }));
    const { lastChange } = ofFlag;
    const [change] = done(await management.flags.history("a"));
    assert.deepEqual(lastChange, { at: change?.createdAt, actor: change?.actor });
    assert.deepEqual(ofFlag, {
      key: "a",
      lastEvaluatedAt: null,
      lastAskedTogetherAt: null,
      lastChange,
      hours: [],
    });
    assert.deepEqual(done(await management.usage()), [
      {
        key: "a",
        on: 0,
        off: 0,
        lastEvaluatedAt: null,
        lastAskedTogetherAt: null,
        lastChange,
        stale: false,
      },
    ]);
  });
});

test("webhooks, their deliveries and secrets", async () => {
  const { webhooks, flags } = await managed();
  const url = "http://127.0.0.1:9/hook";
  const made = done(await webhooks.create({ url, events: ["flag.created"] }));
  assert.match(made.secret, /^whsec_/);
  const read = done(await webhooks.get(made.id));
  assert.deepEqual(done(await webhooks.list()), [read]);
  assert.equal(read.url, url);
  const test = done(await webhooks.test(made.id));
  assert.equal(test.kind, "test");
  assert.equal(done(await webhooks.delivery(made.id, test.id)).event.type, "webhook.test");
  done(await flags.create({ key: "a", type: "boolean" }));
  const again = done(await webhooks.replay(made.id, { afterSequence: 0 }));
  assert.deepEqual([again.replayed, again.throughSequence, again.complete], [1, 1, true]);
  assert.partialDeepStrictEqual(done(await webhooks.replayProgress(made.id)), {
    startedAt: again.startedAt,
    pending: 1,
    failed: 0,
  });
  const { blocking, ...health } = done(await webhooks.healthOf(made.id));
  assert.deepEqual([health.webhookId, health.pending], [made.id, 3]);
  assert.ok(blocking.length <= 3);
  assert.deepEqual(
    done(await webhooks.health()).map(({ webhookId }) => webhookId),
    [made.id],
  );
  assert.deepEqual(done(await webhooks.retry(made.id)), { retried: 0, complete: true });
  done(await webhooks.stopReplay(made.id));
  const ofFlag = done(await webhooks.deliveries(made.id, { flag: "a" }));
  assert.deepEqual(ofFlag.map(({ kind }) => kind).toSorted(), ["event", "replay"]);
  const replayed = done(await webhooks.replayDelivery(made.id, ofFlag[0]?.id ?? ""));
  assert.equal(replayed.kind, "replay");
  const kinds: string[] = [];
  for await (const page of webhooks.deliveryPages(made.id, { limit: 1 })) {
    kinds.push(...done(page).map(({ kind }) => kind));
  }
  assert.equal(kinds.length, 4);
  const rotated = done(await webhooks.rotateSecret(made.id, { immediately: true }));
  assert.equal(rotated.previousSecretValidUntil, null);
  assert.notEqual(rotated.secret, made.secret);
  assert.equal(done(await webhooks.update(made.id, { active: false })).active, false);
  assert.equal(errorOf(await webhooks.test(made.id)).code, "CONFLICT");
  done(await webhooks.delete(made.id));
  assert.equal(errorOf(await webhooks.delete(made.id)).code, "NOT_FOUND");
});

test("keys and the history of the environment", async () => {
  const { keys, history, historyPages } = await managed();
  const origins = ["https://shop.example.com"];
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const made = done(await keys.create({ name: "web", role: "client", expiresAt, origins }));
  assert.deepEqual([made.expiresAt, made.origins], [expiresAt, origins]);
  const { role, name, expiresAt: never } = done(await keys.current());
  assert.deepEqual([role, name, never], ["admin", "admin", null]);
  assert.match(made.key, /^hal_/);
  assert.ok(done(await keys.list()).some(({ id, role }) => id === made.id && role === "client"));
  done(await keys.revoke(made.id));
  assert.equal(errorOf(await keys.revoke(made.id)).code, "NOT_FOUND");
  const actions = done(await history({ subject: "key", limit: 2 })).flatMap(
    (entry) => entry.actions,
  );
  assert.deepEqual(actions, ["key.revoked", "key.created"]);
  const gone = done(await history({ deleted: true })).flatMap((entry) => entry.actions);
  assert.deepEqual(gone, ["key.revoked"]);
  const paged: string[] = [];
  for await (const page of historyPages({ limit: 1 })) {
    paged.push(...done(page).flatMap((entry) => entry.actions));
  }
  assert.deepEqual(paged.slice(0, 2), actions);
});

test("people, and the keys that they make for themselves", async () => {
  const { name, newKey } = await server.environment();
  const key = await newKey("owner");
  const { users, personalKeys, history } = createManagement({ url: server.url, key });
  const { invitation, ...made } = done(
    await users.invite({ name: "Ada", email: "ada@example.com", roles: { [name]: "viewer" } }),
  );
  assert.match(invitation.url, /\/invitation\?token=/);
  assert.deepEqual(
    done(await users.list()).filter(({ id }) => id === made.id),
    [made],
  );
  assert.equal(errorOf(await users.invite({ name: "B", email: "ADA@example.com" })).status, 409);
  const roles = { [name]: "editor" } as const;
  assert.deepEqual(done(await users.update(made.id, { roles })).roles, roles);
  assert.notEqual(done(await users.newInvitation(made.id)).url, invitation.url);

  const { cookie, ...headers } = (await signInUser(server, made.id)).headersFor(name);
  // As the page does it, whose browser sends the cookie.
  const ada = createManagement({
    url: server.url,
    key: "none",
    fetch: (url, init) => {
      const { authorization: _, ...rest } = (init?.headers ?? {}) as Record<string, string>;
      return fetch(url, { ...init, headers: { ...rest, ...headers, cookie: cookie ?? "" } });
    },
  });
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const own = done(await ada.personalKeys.create({ name: "laptop", role: "editor", expiresAt }));
  assert.deepEqual(own.user, { id: made.id, name: "Ada" });
  const { key: _, ...shown } = own;
  assert.deepEqual(done(await ada.personalKeys.list()), [shown]);
  assert.equal(errorOf(await personalKeys.list()).code, "FORBIDDEN");
  done(await ada.personalKeys.revoke(own.id));
  const [entry] = done(await history({ actor: made.id }));
  assert.deepEqual(entry?.actor.user, { id: made.id, name: "Ada" });
  done(await users.remove(made.id));
  assert.equal(errorOf(await users.update(made.id, { name: "C" })).code, "NOT_FOUND");
});

test("an owner's key manages environments", async () => {
  const { newKey } = await server.environment();
  const { environments } = createManagement({ url: server.url, key: await newKey("owner") });
  const wanted = {
    name: "preview",
    copyOf: "development",
    expiresIn: "7d",
    label: "Preview",
  } as const;
  const made = done(await environments.create(wanted));
  assert.deepEqual([made.name, made.label, made.role], ["preview", "Preview", "owner"]);
  const inside = createManagement({ url: server.url, key: made.key.key });
  assert.equal(done(await inside.keys.current()).environment, "preview");
  const { key: _, ...shown } = made;
  assert.deepEqual(done(await inside.environments.list()), [{ ...shown, role: "admin" }]);
  assert.equal(errorOf(await inside.environments.create({ name: "x" })).code, "FORBIDDEN");
  done(await inside.flags.create({ key: "a", type: "boolean" }));
  const kept = done(await environments.update("preview", { expiresAt: null, label: "Kept" }));
  assert.deepEqual([kept.expiresAt, kept.label, kept.flags], [null, "Kept", 1]);
  assert.equal(errorOf(await environments.delete("preview")).code, "CONFLICT");
  assert.equal(done(await environments.delete("preview", { flags: true })), undefined);
  assert.equal(errorOf(await environments.delete("preview")).code, "NOT_FOUND");
});
