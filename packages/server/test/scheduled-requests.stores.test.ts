// Change requests that are applied at a time: once, by whichever instance is there, also after a crash.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createApi } from "./support/api.ts";
import { serveHalyard } from "./support/halyard-process.ts";
import { hour, minute, movableClock } from "./support/movable-clock.ts";
import { signInAs } from "./support/people.ts";
import { act, flagOf, protectedEnvironment, type Request, read } from "./support/protected.ts";
import { startReceiver } from "./support/scripted-receiver.ts";
import { newFolder, startTestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

const operations = [{ kind: "flag", key: "checkout", action: "patch", body: { enabled: true } }];

test("two instances apply a request once at its time; one that moved on is open again and says why", async (t) => {
  const moved = movableClock();
  const { clock } = moved;
  const one = await startTestServer({}, { clock });
  t.after(() => one.close());
  const two = await startTestServer({ HALYARD_DATA: one.folder }, { clock });
  t.after(() => two.close());
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { asAda, asBen, admin } = await protectedEnvironment(one);
  const hook = await admin("POST", "/webhooks", {
    url: receiver.url,
    events: ["change_request.created", "change_request.approved", "change_request.applied"],
  });
  assert.equal(hook.status, 201, hook.text);
  const applyAt = new Date(clock().getTime() + hour).toISOString();
  const made = (await asAda("POST", "/change-requests", { operations, applyAt })).body as Request;
  const approved = await act(asBen, made, "approve");
  assert.equal((approved.body as Request).state, "approved", approved.text);
  assert.equal((await act(asBen, made, "apply")).status, 409, "its time has not come");
  assert.equal((await flagOf(admin)).enabled, false);
  const revision = (await admin("GET", "/flags")).headers.get("etag");

  // A second one, which moves on before its time.
  const second = (
    await asAda("POST", "/change-requests", {
      operations: [{ ...operations[0], body: { description: "late" } }],
      applyAt: new Date(clock().getTime() + 2 * hour).toISOString(),
    })
  ).body as Request;
  assert.equal((await act(asBen, second, "approve")).status, 200);

  moved.forward(hour + minute);
  const applied = await until("it is applied", async () => {
    const now = await read(admin, made);
    return now.state === "applied" && now;
  });
  assert.equal(applied.closedBy?.name, "halyard");
  assert.equal((await flagOf(admin)).enabled, true);
  assert.equal((await admin("GET", "/flags")).headers.get("etag"), `"${applied.appliedRevision}"`);
  assert.equal(revision, `"${(applied.appliedRevision ?? 0) - 1}"`, "one revision");

  moved.forward(hour);
  const reopened = await until("it is open again", async () => {
    const now = await read(admin, second);
    return now.state === "open" && now;
  });
  assert.deepEqual(reopened.moved, ["checkout"]);
  assert.deepEqual(
    reopened.approvals.map(({ state }) => state),
    ["voided"],
  );
  assert.equal(reopened.comments[0]?.actor.name, "halyard");
  assert.match(reopened.comments[0]?.text ?? "", /^It could not be applied: "checkout" changed/);
  assert.equal((await flagOf(admin)).description, null);

  // A slow attempt may have been repeated.
  const delivered = () => {
    const bodies = receiver.received.map(({ body }) => JSON.parse(body.toString()));
    return [...new Map(bodies.map((each) => [each.id, each])).values()];
  };
  const typesOf = ({ id }: Request) =>
    delivered()
      .filter(({ data }) => data.changeRequest.id === id)
      .map(({ type }) => type);
  await until("they are delivered", () => delivered().length === 5);
  assert.deepEqual(
    typesOf(made),
    ["change_request.created", "change_request.approved", "change_request.applied"],
    "in their order",
  );
  assert.equal(typesOf(second).length, 2);
  // What is not due any more is not looked at by either.
  const events = (await admin("GET", "/events?limit=100")).body as { type: string }[];
  assert.equal(events.filter(({ type }) => type === "change_request.applied").length, 1);
  assert.equal(events.filter(({ type }) => type === "change_request.commented").length, 1);
});

test("a request whose reviewer lost the role before its time is open again and says why", async (t) => {
  const moved = movableClock();
  const server = await startTestServer({}, { clock: moved.clock });
  t.after(() => server.close());
  const { name, asAda, ben, asBen, admin } = await protectedEnvironment(server);
  const olga = await signInAs(server, { name: "Olga", owner: true });
  const later = new Date(moved.clock().getTime() + hour).toISOString();
  const scheduled = async (body: object): Promise<Request> => {
    const operation = { ...operations[0], body };
    const proposal = { operations: [operation], applyAt: later };
    return (await asAda("POST", "/change-requests", proposal)).body as Request;
  };
  const byBen = await scheduled({ description: "by Ben" });
  const approved = await act(asBen, byBen, "approve");
  assert.equal((approved.body as Request).state, "approved", approved.text);
  const fewer = { roles: { [name]: "viewer" } };
  const changed = await olga.in(name)("PATCH", `/users/${ben.userId}`, fewer);
  assert.equal(changed.status, 200, changed.text);

  moved.forward(hour + minute);
  const reopened = await until("it is open again", async () => {
    const now = await read(admin, byBen);
    return now.state !== "approved" && now;
  });
  assert.equal(reopened.state, "open");
  assert.deepEqual(
    reopened.approvals.map(({ state }) => state),
    ["voided"],
  );
  assert.match(reopened.comments[0]?.text ?? "", /no longer has enough approvals/);
  assert.equal((await flagOf(admin)).description, null);
});

test("a request whose time comes while the server is down is applied once when it is back", async (t) => {
  const folder = newFolder();
  const first = await serveHalyard(folder);
  t.after(() => first.kill("SIGKILL"));
  const environment = "production";
  const admin = createApi(first.url, first.keys.production ?? "");
  await admin("POST", "/flags", { key: "checkout", type: "boolean" });
  const where = { url: first.url, folder };
  const roles = { [environment]: "editor" } as const;
  const ada = (await signInAs(where, { name: "Ada", roles })).in(environment);
  const ben = (await signInAs(where, { name: "Ben", roles })).in(environment);
  const applyAt = new Date(Date.now() + 3_000).toISOString();
  const made = (await ada("POST", "/change-requests", { operations, applyAt })).body as Request;
  assert.equal((await act(ben, made, "approve")).status, 200);
  first.kill("SIGKILL");
  await first.ended;
  const again = await serveHalyard(folder);
  t.after(() => again.kill("SIGKILL"));
  const after = createApi(again.url, first.keys.production ?? "");
  await until("it is applied", async () => (await read(after, made)).state === "applied");
  const history = (await after("GET", "/flags/checkout/history")).body as unknown[];
  assert.equal(history.length, 2, "created, and changed once");
  again.kill("SIGTERM");
  await again.ended;
});
