// Change requests by management calls: a write that was proposed is not taken for one that was made.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createManagement } from "@halyard/sdk/management";
import { protectedEnvironment } from "../../server/test/support/protected.ts";
import { startTestServer } from "../../server/test/support/server.ts";

test("a write in a protected environment is an error that carries the change request", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { keys, asAda, asBen, newKey } = await protectedEnvironment(server);
  const { flags, changeRequests } = createManagement({ url: server.url, key: keys.admin });
  const result = await flags.update(
    "checkout",
    { enabled: true },
    { reason: "The test went well" },
  );
  assert.ok(!result.ok);
  const { code, status, proposed } = result.error;
  assert.deepEqual([code, status, proposed?.state], ["APPROVAL_NEEDED", 202, "open"]);
  const id = proposed?.id ?? "";
  assert.match(result.error.message, new RegExp(id));
  const commented = await changeRequests.comment(id, "Please look.");
  assert.ok(commented.ok && commented.value.comments.length === 1, JSON.stringify(commented));
  const list = await changeRequests.list({ state: "open" });
  assert.deepEqual(list.ok && list.value.requests.map((request) => request.id), [id]);
  const own = await changeRequests.approve(id);
  assert.equal(own.ok ? "" : own.error.code, "FORBIDDEN");
  // No person issued the first key, so two have to approve.
  for (const person of [asBen, asAda]) {
    assert.equal((await person("POST", `/change-requests/${id}/approve`)).status, 200);
  }
  const applied = await changeRequests.get(id);
  assert.equal(applied.ok && applied.value.state, "applied");
  const again = await flags.update("checkout", { enabled: true });
  assert.ok(again.ok && again.value.enabled, "nothing was left to propose");

  const owner = createManagement({ url: server.url, key: await newKey("owner"), bypass: true });
  const passed = await owner.flags.update(
    "checkout",
    { enabled: false },
    { reason: "An incident" },
  );
  assert.ok(passed.ok && !passed.value.enabled, JSON.stringify(passed));
  const history = await flags.history("checkout", { limit: 1 });
  assert.equal(history.ok && history.value[0]?.bypass?.reason, "An incident");
});
