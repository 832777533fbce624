// Every line of the audit log names the request that asked for the change, whatever kind of change it is.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { type Api, createApi } from "./support/api.ts";
import { register } from "./support/delivery-log.ts";
import { serveHalyard } from "./support/halyard-process.ts";
import { logLines } from "./support/log-lines.ts";
import { signInAs } from "./support/people.ts";
import { startReceiver } from "./support/scripted-receiver.ts";
import { newFolder } from "./support/server.ts";
import { storeSettings } from "./support/test-store.ts";

const chosen = "chosen-by-the-operator-0123456789";
const editor = { roles: { development: "editor" as const } };

const start = async (t: TestContext) => {
  const folder = newFolder();
  const halyard = await serveHalyard(folder, {
    ...(await storeSettings(folder)),
    HALYARD_BOOTSTRAP_KEYS: `development=${chosen}`,
  });
  const receiver = await startReceiver();
  t.after(async () => {
    halyard.kill("SIGKILL");
    await halyard.ended;
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { halyard, receiver, where: { url: halyard.url, folder } };
};

test("every kind of change is logged with its request and the address of its client", async (t) => {
  const { halyard, receiver, where } = await start(t);
  const admin = createApi(halyard.url, chosen);
  const owner = (await signInAs(where, { name: "Ola", owner: true })).in("development");
  const ada = (await signInAs(where, { name: "Ada", ...editor })).in("development");
  const ben = await signInAs(where, { name: "Ben", ...editor });
  const asBen = ben.in("development");
  let requests = 0;
  /** The lines that the request leaves, as `audit actor`; each must name the request. */
  const expected: (readonly [id: string, line: string])[] = [];
  const change = async (
    api: Api,
    [method, path, body]: readonly [method: string, path: string, body?: unknown],
    ...lines: readonly string[]
  ): Promise<unknown> => {
    requests += 1;
    const id = `change-${requests}`;
    for (const line of lines) expected.push([id, line]);
    const answer = await api(method, path, body, { "x-request-id": id });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return answer.body;
  };
  const idOf = (made: unknown): string => (made as { id: string }).id;

  await change(
    admin,
    ["POST", "/flags", { key: "one", type: "boolean" }],
    "flag.created bootstrap",
  );
  await change(admin, ["POST", "/segments", { key: "staff" }], "segment.created bootstrap");
  const members = { include: { add: ["ada"] } };
  await change(admin, ["POST", "/segments/staff/members", members], "segment.updated bootstrap");
  const hook = await register(admin, receiver.url);
  await change(
    admin,
    ["POST", `/webhooks/${hook.id}/replay`, { afterSequence: 0 }],
    "webhook.replayed bootstrap",
  );

  const qa = { name: "qa", copyOf: "development" };
  await change(
    owner,
    ["POST", "/environments", qa],
    "environment.created Ola",
    "user.added operator",
    "key.created Ola",
  );
  await change(owner, ["PATCH", "/environments/qa", { label: "QA" }], "environment.updated Ola");
  await change(owner, ["DELETE", "/environments/qa?flags=true"], "environment.deleted Ola");
  const protect = { protected: true };
  await change(owner, ["PATCH", "/environments/development", protect], "environment.updated Ola");

  const propose = async (body: object): Promise<string> =>
    `/change-requests/${idOf(
      await change(ada, ["PATCH", "/flags/one", body], "change_request.created Ada"),
    )}`;
  const applied = await propose({ enabled: true });
  await change(
    asBen,
    ["POST", `${applied}/comments`, { text: "Why?" }],
    "change_request.commented Ben",
  );
  await change(
    asBen,
    ["POST", `${applied}/approve`],
    "change_request.approved Ben",
    "flag.enabled Ada",
    "change_request.applied Ben",
  );
  const refused = await propose({ enabled: false });
  await change(asBen, ["POST", `${refused}/refuse`, {}], "change_request.refused Ben");
  const withdrawn = await propose({ enabled: false });
  const edited = { reason: "Another reason" };
  await change(ada, ["PATCH", withdrawn, edited], "change_request.updated Ada");
  await change(ada, ["POST", `${withdrawn}/withdraw`], "change_request.withdrawn Ada");
  const key = { name: "direct", role: "editor", writesDirectly: true };
  await change(
    admin,
    ["POST", "/keys", key],
    "key.created bootstrap",
    "change_request.created bootstrap",
  );

  const invite = ["POST", "/users", { name: "Cy" }] as const;
  const guest = idOf(await change(owner, invite, "user.created Ola", "user.invited Ola"));
  await change(owner, ["POST", `/users/${guest}/invitation`], "user.invited Ola");
  const link = { account: ben.userId };
  await change(
    owner,
    ["POST", `/users/${guest}/linked`, link],
    "user.linked Ola",
    "user.linked Ola",
  );

  halyard.kill("SIGTERM");
  const { stdout } = await halyard.ended;
  const lines = logLines(stdout).filter(({ msg, address }) => msg === "changed" && address);
  assert.ok(lines.every(({ address }) => address === "127.0.0.1"));
  assert.deepEqual(
    lines
      .filter(({ reqId }) => reqId?.startsWith("change-"))
      .map(({ reqId, audit, keyName, userName }) => [reqId, `${audit} ${userName ?? keyName}`]),
    expected,
  );
});
