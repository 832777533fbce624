// The management calls about segments against a started server, and the events that they make.
import assert from "node:assert/strict";
import { test } from "node:test";
import { applyChanges } from "@halyard/sdk/apply-plan";
import {
  type Condition,
  createManagement,
  type FlagQuery,
  type Result,
  type Rule,
  type Segment,
  type SegmentSummary,
} from "@halyard/sdk/management";
import { verifyWebhook } from "@halyard/sdk/webhooks";
import { startTestServer } from "../../server/test/support/server.ts";
import { secretOf, signStandard } from "./support/vectors.ts";

const done = <T>(result: Result<T>): T => {
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
};
const errorOf = <T>(result: Result<T>) => {
  assert.ok(!result.ok, JSON.stringify(result));
  return result.error;
};

test("segments: create, read, change, use, delete, and their events", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { keys } = await server.environment();
  const { flags, segments, events, history } = createManagement({
    url: server.url,
    key: keys.admin,
  });
  const when: Condition = { attribute: "plan", op: "in", values: ["pro"] };
  const made = await segments.create({ key: "beta", include: ["ann"], when });
  const counts = { include: 1, exclude: 0 };
  const summary: SegmentSummary = { key: "beta", description: null, when, counts };
  assert.deepEqual(made, { ok: true, value: summary, version: 1 });
  const members = { include: { add: ["bob", "eve"], remove: ["ann"] } };
  const moved = done(await segments.changeMembers("beta", members, { ifMatch: 1 }));
  assert.deepEqual(moved.counts, { include: 2, exclude: 0 });
  const late = errorOf(await segments.update("beta", { when: null }, { ifMatch: 1 }));
  assert.equal(late.code, "PRECONDITION_FAILED");
  const whole: Segment = done(await segments.get("beta"));
  assert.deepEqual(whole.include, ["bob", "eve"]);
  assert.deepEqual(done(await segments.list()), [moved]);

  // A plan that conflicts with another user's change names that user, and reads no more history than that.
  let read = 0;
  const counted = createManagement({
    url: server.url,
    key: keys.admin,
    async fetch(...request) {
      const response = await fetch(...request);
      const body: unknown = await response.clone().json();
      if (response.url.includes("/history")) read += (body as unknown[]).length;
      return response;
    },
  });
  const [outcome] = await applyChanges(
    counted,
    [{ of: "segment", kind: "delete", key: "beta", segment: { ...whole, include: ["ann"] } }],
    { onProgress: () => {}, onWait: () => {} },
  );
  assert.equal(outcome?.kind, "conflict");
  assert.match(outcome.message, /^was changed meanwhile by admin at /);
  assert.equal(read, 1);

  const rules: Rule[] = [{ id: "beta", when: { segment: ["beta"] }, serve: "on" }];
  const tagged = { tags: ["shop"], owner: "team" };
  done(await flags.create({ key: "a", type: "boolean", rules, otherwise: "off", ...tagged }));
  done(await flags.create({ key: "b", type: "boolean" }));
  const found = async (query: FlagQuery) => done(await flags.list(query)).map(({ key }) => key);
  assert.deepEqual(await found({ tag: "shop" }), ["a"]);
  assert.deepEqual(await found({ owner: "nobody" }), []);
  assert.deepEqual(done(await segments.flags("beta")), [{ key: "a", rules: ["beta"] }]);
  done(await segments.update("beta", { description: "early" }));
  assert.equal(errorOf(await segments.delete("beta")).code, "CONFLICT");
  done(await flags.changeTogether([{ flag: "a", patch: { rules: null } }]));
  assert.deepEqual(await segments.delete("beta"), { ok: true, value: undefined });
  const entries = done(await history({ subject: "segment" }));
  assert.equal(entries.length, 4);

  const received = done(await events({ after: 0 }));
  const shown = received.flatMap((event) => {
    switch (event.type) {
      case "segment.created":
      case "segment.updated":
      case "segment.deleted": {
        const { segment, version, previous, include, flags: users } = event.data;
        return [[event.type, segment.key, version, Object.keys(previous), include, users]];
      }
      default:
        return [];
    }
  });
  assert.deepEqual(shown, [
    ["segment.created", "beta", 1, [], { added: ["ann"], removed: [] }, []],
    ["segment.updated", "beta", 2, ["counts"], { added: ["bob", "eve"], removed: ["ann"] }, []],
    ["segment.updated", "beta", 3, ["description"], undefined, ["a"]],
    ["segment.deleted", "beta", 4, [], undefined, []],
  ]);

  const [first] = received;
  assert.ok(first);
  const body = JSON.stringify(first);
  const secret = secretOf(7);
  const headers = signStandard([secret], first.id, new Date(), body);
  const event = await verifyWebhook(body, headers, secret);
  assert.equal(event.type, "segment.created");
  if (event.type === "segment.created") assert.deepEqual(event.data.segment, summary);
});

test("a reason is of one change, or of every change by a client; other calls have none", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { keys } = await server.environment();
  const address = { url: server.url, key: keys.admin };
  const silent = createManagement(address);
  const telling = createManagement({ ...address, reason: "Release 7" });
  const reason = "An incident: 100% & more?";
  done(await silent.flags.create({ key: "f", type: "boolean" }));
  done(await silent.flags.update("f", { enabled: true }, { reason, ifMatch: 1 }));
  done(await telling.flags.changeTogether([{ flag: "f", patch: { enabled: false } }]));
  done(await telling.segments.create({ key: "s" }));
  done(await telling.segments.changeMembers("s", { include: { add: ["ann"] } }, { reason }));
  done(await telling.segments.update("s", { description: "d" }));
  done(await silent.segments.delete("s", { reason }));
  done(await telling.flags.delete("f"));
  done(await telling.keys.create({ name: "other", role: "client" }));
  const entries = done(await silent.history({ actor: "admin", since: "2020-01-01" }));
  assert.deepEqual(entries.map((entry) => entry.reason).toReversed(), [
    undefined,
    reason,
    "Release 7",
    "Release 7",
    reason,
    "Release 7",
    reason,
    "Release 7",
    undefined,
  ]);
  const events = done(await silent.events());
  assert.deepEqual(events.map((event) => event.reason).slice(0, 3), [
    undefined,
    reason,
    "Release 7",
  ]);
  // Half a character cannot be sent: the server decides about what is left.
  const half = await silent.flags.create({ key: "half", type: "boolean" }, { reason: "a\ud83db" });
  assert.equal(half.ok, true);
});
