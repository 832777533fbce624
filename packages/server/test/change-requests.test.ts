// Protected environments: changes are proposed, and made when another person approves them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listKeys } from "../src/platform/auth/key-queries.ts";
import { listEnvironments } from "../src/platform/environments.ts";
import { signInAs, withStore } from "./support/people.ts";
import {
  act,
  flagOf,
  propose,
  protectedEnvironment,
  type Request,
  read,
  setProtected,
} from "./support/protected.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("a write is proposed, another person approves it, and it is made in the author's name", async () => {
  const { asAda, asBen, admin } = await protectedEnvironment(server);
  const made = await propose(
    asAda,
    { enabled: true },
    "/flags/checkout?reason=The%20test%20went%20well",
  );
  assert.equal(made.state, "open");
  assert.equal(made.title, "Change the flag checkout");
  assert.equal(made.operations[0]?.version, 1);
  assert.equal(made.operations[0]?.before?.enabled, false);
  assert.equal(made.operations[0]?.after?.enabled, true);
  assert.equal((await flagOf(admin)).enabled, false, "nothing has changed yet");

  const approved = await act(asBen, made, "approve");
  assert.equal(approved.status, 200, approved.text);
  assert.equal((approved.body as Request).state, "applied");
  assert.equal((await flagOf(admin)).enabled, true);

  const [entry] = (await admin("GET", "/flags/checkout/history")).body as Record<string, unknown>[];
  assert.equal((entry?.actor as { name: string } | undefined)?.name, "Ada");
  assert.equal(entry?.reason, "The test went well");
  assert.deepEqual(entry?.changeRequest, { id: made.id, approvedBy: ["Ben"] });

  const events = (await admin("GET", "/events?limit=4")).body as Record<string, unknown>[];
  assert.deepEqual(
    events.map(({ type }) => type),
    ["change_request.created", "change_request.approved", "flag.enabled", "change_request.applied"],
  );
  assert.deepEqual(events[2]?.changeRequest, { id: made.id, approvedBy: ["Ben"] });
  const actions = (await admin("GET", `/history?subject=change-request&id=${made.id}`)).body as {
    actions: string[];
  }[];
  assert.deepEqual(
    actions.map((each) => each.actions[0]),
    ["change_request.applied", "change_request.approved", "change_request.created"],
  );
});

test("creations, deletions, segments, members and POST /changes are proposed too; what changes nothing is answered", async () => {
  const { asAda, asBen, admin } = await protectedEnvironment(server);
  const requests: Request[] = [];
  for (const [method, path, body] of [
    ["POST", "/flags", { key: "banner", type: "rollout", percentage: 5 }],
    ["POST", "/segments", { key: "beta", include: ["ben"] }],
    ["PATCH", "/segments/staff", { description: "Us" }],
    ["POST", "/changes", { changes: [{ flag: "checkout", patch: { enabled: true } }] }],
  ] as const) {
    const answer = await asAda(method, path, body);
    assert.equal(answer.status, 202, `${method} ${path} ${answer.text}`);
    requests.push(answer.body as Request);
  }
  for (const request of requests) assert.equal((await act(asBen, request, "approve")).status, 200);
  assert.equal((await flagOf(admin, "banner")).percentage, 5);
  const members = await asAda("POST", "/segments/staff/members", { include: { add: ["cy"] } });
  assert.equal(members.status, 202);
  assert.equal((await act(asBen, members.body as Request, "approve")).status, 200);
  const staff = (await admin("GET", "/segments/staff")).body as { include: string[] };
  assert.deepEqual(staff.include, ["ada", "cy"]);
  const removal = await asAda("DELETE", "/flags/banner");
  assert.equal(removal.status, 202);
  assert.equal((await act(asBen, removal.body as Request, "approve")).status, 200);
  assert.equal((await admin("GET", "/flags/banner")).status, 404);

  assert.equal((await asAda("PATCH", "/flags/checkout", { enabled: true })).status, 200);
  assert.equal((await asAda("PATCH", "/flags/nothing", { enabled: true })).status, 404);
  const stale = await asAda("PATCH", "/flags/checkout", { enabled: false }, { "if-match": '"1"' });
  assert.equal(stale.status, 412);
  const list = (await asAda("GET", "/change-requests?state=open")).body as { requests: unknown[] };
  assert.deepEqual(list.requests, []);
});

test("only the author edits, and editing voids the approvals", async () => {
  const { asAda, asBen, name } = await protectedEnvironment(server);
  const later = new Date(Date.now() + 3_600_000).toISOString();
  const operation = { kind: "flag", key: "checkout", action: "patch", body: { enabled: true } };
  const answer = await asAda("POST", "/change-requests", {
    operations: [operation],
    applyAt: later,
    reason: "At night",
  });
  assert.equal(answer.status, 201, answer.text);
  const made = answer.body as Request;
  const approved = (await act(asBen, made, "approve")).body as Request;
  assert.equal(approved.state, "approved");
  assert.deepEqual(
    approved.approvals.map(({ state }) => state),
    ["given"],
  );
  const edit = { operations: [{ ...operation, body: { enabled: true, description: "new" } }] };
  assert.equal((await asBen("PATCH", `/change-requests/${made.id}`, edit)).status, 403);
  const edited = await asAda("PATCH", `/change-requests/${made.id}`, edit);
  assert.equal(edited.status, 200, edited.text);
  assert.equal((edited.body as Request).state, "open");
  assert.deepEqual(
    (edited.body as Request).approvals.map(({ state }) => state),
    ["voided"],
  );
  const cy = await signInAs(server, { name: "Cy", roles: { [name]: "viewer" } });
  assert.equal((await act(cy.in(name), made, "approve")).status, 403, "a viewer");
  assert.equal((await act(asAda, made, "apply")).status, 409, "it is not approved any more");
  const early = await asAda("PATCH", `/change-requests/${made.id}`, { applyAt: null });
  assert.equal((early.body as { applyAt: null }).applyAt, null);
  const done = (await act(asBen, made, "approve")).body as Request;
  assert.equal(done.state, "applied");
  assert.deepEqual(
    done.approvals.map(({ state }) => state),
    ["voided", "given"],
  );
});

test("several flags and segments are applied together, or none of them", async () => {
  const { asAda, asBen, admin, name } = await protectedEnvironment(server);
  const owner = (await signInAs(server, { name: "Olga", owner: true })).in(name);
  const operations = [
    { kind: "segment", key: "beta", action: "create", body: { include: ["ben"] } },
    {
      kind: "flag",
      key: "checkout",
      action: "patch",
      body: {
        enabled: true,
        rules: [{ id: "beta", when: { segment: ["beta"] }, serve: "on" }],
        otherwise: "off",
      },
    },
    { kind: "segment", key: "staff", action: "delete" },
  ];
  const answer = await asAda("POST", "/change-requests", { operations });
  assert.equal(answer.status, 201, answer.text);
  const made = answer.body as Request;
  // Now a flag names the segment that the last operation deletes.
  const named = await owner("POST", "/flags?bypass=true&reason=race", {
    key: "other",
    type: "boolean",
    rules: [{ id: "staff", when: { segment: ["staff"] }, serve: "on" }],
    otherwise: "off",
  });
  assert.equal(named.status, 201, named.text);
  const refused = await act(asBen, made, "approve");
  assert.equal(refused.status, 409, refused.text);
  assert.equal((await admin("GET", "/segments/beta")).status, 404, "nothing was applied");
  assert.equal((await flagOf(admin)).enabled, false);
  assert.equal((await owner("DELETE", "/flags/other?bypass=true&reason=race")).status, 204);
  const done = await act(asBen, made, "approve");
  assert.equal((done.body as Request).state, "applied", done.text);
  assert.equal((await flagOf(admin)).enabled, true);
  assert.equal((await admin("GET", "/segments/staff")).status, 404);
});

test("keys propose too; one that may write directly is approved first", async () => {
  const { admin, keys, asAda, asBen, name } = await protectedEnvironment(server);
  assert.equal((await admin("PATCH", "/flags/checkout", { enabled: true })).status, 202);
  const editor = await withStore(server, async (store) => {
    const { id } = (await listEnvironments(store)).find((each) => each.name === name) ?? { id: 0 };
    return (await listKeys(store, id)).find(({ role }) => role === "admin")?.id ?? "";
  });
  const operations = [
    { kind: "flag", key: "checkout", action: "patch", body: { description: "harmless" } },
    { kind: "key", key: editor, action: "patch", body: { writesDirectly: true } },
  ];
  const asked = await admin("POST", "/change-requests", { operations });
  assert.equal(asked.status, 201, asked.text);
  assert.equal((asked.body as Request).title, `Let the key ${editor} write directly and 1 more`);
  assert.equal((await admin("PATCH", "/flags/checkout", { enabled: true })).status, 202);
  for (const api of [asAda, asBen]) {
    assert.equal((await act(api, asked.body as Request, "approve")).status, 200);
  }
  assert.equal((await admin("PATCH", "/flags/checkout", { enabled: true })).status, 200);
  assert.ok(keys.admin);

  const made = await admin("POST", "/keys", {
    name: "deploy",
    role: "editor",
    writesDirectly: true,
  });
  assert.equal(made.status, 201, made.text);
  const { key, writesDirectly, proposed } = made.body as {
    key: string;
    writesDirectly?: boolean;
    proposed: Request;
  };
  assert.equal(writesDirectly, undefined, "not yet");
  const deploy = server.api(key);
  const request = await propose(deploy, { description: "deployed" });
  for (const api of [asAda, asBen]) {
    assert.equal((await act(api, proposed, "approve")).status, 200);
  }
  assert.equal((await deploy("PATCH", "/flags/checkout", { description: "now" })).status, 200);
  assert.deepEqual((await read(asBen, request)).moved, ["checkout"]);
});

test("refused, withdrawn and discussed: what is over stays so", async () => {
  const { asAda, asBen, admin } = await protectedEnvironment(server);
  const made = await propose(asAda, { enabled: true });
  assert.equal((await act(asBen, made, "comments", { text: "Why?\nReally?" })).status, 201);
  assert.equal((await act(asBen, made, "comments", { text: " \n" })).status, 400);
  const refused = await act(asBen, made, "refuse", { comment: "Not now." });
  assert.equal(refused.status, 200, refused.text);
  const { state, comments, closedBy } = refused.body as Request;
  assert.deepEqual([state, closedBy?.name], ["refused", "Ben"]);
  assert.deepEqual(
    comments.map(({ text }) => text),
    ["Why?\nReally?", "Not now."],
  );
  for (const [api, step] of [
    [asBen, "approve"],
    [asAda, "withdraw"],
    [asAda, "rebase"],
  ] as const) {
    assert.equal((await act(api, made, step)).status, 409, step);
  }
  const own = await propose(asAda, { enabled: true });
  assert.equal((await act(asBen, own, "withdraw")).status, 403);
  assert.equal(((await act(asAda, own, "withdraw")).body as Request).state, "withdrawn");
  const page = (await admin("GET", "/change-requests?limit=1")).body as {
    requests: Request[];
    next: string;
  };
  assert.equal(page.requests[0]?.id, own.id);
  const rest = (await admin("GET", `/change-requests?cursor=${page.next}`)).body as typeof page;
  assert.deepEqual([rest.requests.map(({ id }) => id), rest.next], [[made.id], null]);
  assert.equal((await admin("GET", "/change-requests?cursor=x")).status, 400);
  assert.equal((await admin("GET", "/change-requests/cr_0000000000000000")).status, 404);
});

test("the same Idempotency-Key proposes once", async () => {
  const { asAda } = await protectedEnvironment(server);
  const once = { "idempotency-key": "one" };
  const body = { key: "banner", type: "boolean" };
  const first = await asAda("POST", "/flags", body, once);
  const second = await asAda("POST", "/flags", body, once);
  assert.deepEqual([first.status, second.status], [202, 202]);
  assert.equal((first.body as Request).id, (second.body as Request).id);
  const list = (await asAda("GET", "/change-requests")).body as { requests: unknown[] };
  assert.equal(list.requests.length, 1);
});

test("a request in an environment that is not protected; its operations are checked", async () => {
  const environment = await server.environment();
  const ada = (await signInAs(server, { name: "Ada", roles: { [environment.name]: "editor" } })).in(
    environment.name,
  );
  assert.equal((await ada("POST", "/flags", { key: "a", type: "boolean" })).status, 201);
  const proposeAll = (...operations: object[]) => ada("POST", "/change-requests", { operations });
  const base = { kind: "flag", key: "a", action: "patch" };
  for (const [operation, field] of [
    [{ ...base, body: { enabled: "yes" } }, "operations[0].body.enabled"],
    [{ ...base, body: { unknown: 1 } }, "operations[0].body.unknown"],
    [{ ...base, action: "members" }, "operations[0].action"],
    [{ ...base, key: "no key!" }, "operations[0].key"],
    [{ ...base, body: { percentage: 5 } }, "operations[0].body.percentage"],
  ] as const) {
    const answer = await proposeAll(operation);
    assert.equal(answer.status, 400, answer.text);
    const { details } = answer.body as { details: { field: string }[] };
    assert.equal(details[0]?.field, field);
  }
  const twice = { ...base, body: { enabled: true } };
  assert.equal((await proposeAll({ ...base, body: { enabled: false } })).status, 409, "no change");
  assert.equal((await proposeAll({ ...twice, version: 7 })).status, 412);
  assert.equal((await proposeAll(twice)).status, 201);
  assert.equal((await ada("PATCH", "/flags/a", { enabled: true })).status, 200);
  await setProtected(server, environment.name, true);
  assert.equal((await ada("PATCH", "/flags/a", { enabled: false })).status, 202);
});
