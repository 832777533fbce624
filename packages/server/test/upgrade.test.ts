// A store of version 0.1 opens: everything in it is as before, and it can be changed.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
import type { HistoryEntry } from "@halyard/sdk";
import { migrations } from "../src/store/schema/migrate.ts";
import { readRows, writeRows } from "./support/database.ts";
import { dropDatabase } from "./support/postgres.ts";
import { newFolder, startTestServer, type TestServer } from "./support/server.ts";
import { signInWith } from "./support/session.ts";

/** The schema of version 0.1. */
const schemaBefore = 6;

/** The last one without people. */
const schemaWithoutPeople = 12;

const dropColumns = (table: string, ...columns: readonly string[]): readonly string[] =>
  columns.map((column) => `alter table ${table} drop column ${column}`);

const withoutPeople: readonly string[] = [
  "drop table instances",
  "drop table history_checkpoints",
  "drop index history_unchained",
  ...dropColumns("history", "digest", "chain"),
  ...dropColumns("environments", "chain", "max_flips"),
  ...dropColumns("api_keys", "max_flips"),
  ...dropColumns("webhooks", "cloud_events"),
  "drop table change_request_entries",
  "drop table change_requests",
  ...dropColumns("history", "review"),
  ...dropColumns("api_keys", "created_by"),
  "drop index history_by_actor_user",
  ...dropColumns("history", "actor_user_id", "actor_user_name"),
  ...dropColumns("environments", "label", "color", "protected", "expires_at", "copy_of"),
  ...dropColumns("removed_environments", "actor"),
  ...dropColumns("sign_in_links", "user_id", "invited_by"),
  "drop index sessions_by_user",
  ...dropColumns("sessions", "id", "user_id", "owner", "created_at", "signed_in_at"),
  ...dropColumns("sessions", "method", "address", "agent", "provider_token", "rights_at"),
  "drop index api_keys_by_user",
  ...dropColumns("api_keys", "user_id", "kind", "from_group", "hand_role", "writes_directly"),
  "drop table identities",
  "drop table users",
];

const setBack = async (folder: string, version: number): Promise<void> => {
  for (const statement of [
    ...withoutPeople,
    ...(version === schemaBefore ? beforeSegments : []),
    `update schema_version set version = ${version}`,
  ]) {
    await writeRows({ folder }, statement);
  }
};

const beforeSegments: readonly string[] = [
  "drop index history_by_time",
  "drop index history_by_kind_and_time",
  "drop index history_by_actor_name",
  "drop index history_by_actor_key",
  "drop index history_of_deletions",
  "drop index history_of_deletions_by_kind",
  "alter table history drop column reason",
  "alter table flags drop column definition",
  "alter table flags drop column level",
  "alter table history drop column level",
  "alter table api_keys drop column expires_at",
  "alter table api_keys drop column origins",
  "drop table sessions",
  "drop table replays",
  "drop table removed_environments",
  "alter table api_keys drop column given",
  "drop index answers_by_key_and_expiry",
  "drop table attempt_counts",
  "drop index deliveries_pending_by_webhook",
  "drop index deliveries_retrying",
  "drop index history_of_creations",
  "drop table usage_counts",
  "drop table flag_references",
  "drop table segment_members",
  "drop table segments",
  "alter table environments drop column segment_count",
  "alter table environments drop column definition_bytes",
  "alter table environments drop column changed_at",
];

/** Signs in at this server with a link that another one on the store has printed. */
const openLink = async ({ url }: TestServer, printed: string | undefined): Promise<string> => {
  const { pathname, search } = new URL(printed ?? "");
  const answer = await fetch(`${url}${pathname}${search}`, { redirect: "manual" });
  assert.equal(answer.status, 303);
  return answer.headers.get("location") ?? "";
};

const withoutLinkOfStart = { HALYARD_SIGN_IN_LINK: "off" };

test("flags, versions, history, keys and printed links of version 0.1 are there after the upgrade", async () => {
  const folder = newFolder();
  const first = await startTestServer({ HALYARD_DATA: folder });
  const { keys, admin } = await first.environment();
  await admin("POST", "/flags", { key: "a", type: "boolean", description: "ä" });
  await admin("PATCH", "/flags/a", { enabled: true });
  await admin("POST", "/flags", { key: "b", type: "rollout", percentage: 33.333 });
  await admin("POST", "/webhooks", { url: "https://example.com/hook", events: ["*"] });
  const paths = ["/flags", "/flags/a", "/flags/b", "/flags/a/history", "/history", "/webhooks"];
  /** But for the chain, which begins with the upgrade. */
  const unchained = (body: unknown) =>
    JSON.stringify(body, (name, value) => (name === "chain" ? undefined : value));
  const read = async (api: typeof admin) =>
    Promise.all(paths.map(async (path) => unchained((await api("GET", path)).body)));
  const before = await read(admin);
  await first.close();
  await setBack(folder, schemaBefore);

  const second = await startTestServer({ HALYARD_DATA: folder, ...withoutLinkOfStart });
  const after = second.api(keys.admin);
  const [chained, ...rest] = (await after("GET", "/history")).body as HistoryEntry[];
  assert.partialDeepStrictEqual(chained, {
    ...{ subject: "environment", actor: { keyId: null, name: "halyard" } },
    ...{ actions: ["environment.history_chained"], after: { entries: rest.length } },
  });
  const expected = before.with(paths.indexOf("/history"), unchained(rest));
  assert.deepEqual(expected, before);
  assert.deepEqual(
    (await read(after)).filter((_, index) => paths[index] !== "/history"),
    before.filter((_, index) => paths[index] !== "/history"),
  );
  assert.partialDeepStrictEqual((await after("GET", "/history/verification")).body, {
    ...{ verified: true, entries: rest.length + 1, head: chained?.chain },
  });
  const [row] = await readRows({ folder }, "select version from schema_version");
  assert.equal(row?.version, migrations.length);
  assert.ok(migrations.length > schemaBefore);
  const changed = await after("PATCH", "/flags/b", { percentage: 50 });
  assert.equal(changed.headers.get("etag"), '"2"');
  const evaluated = await second.api(keys.client)("POST", "//ofrep/v1/evaluate/flags/a", {
    context: {},
  });
  assert.equal((evaluated.body as { value: boolean }).value, true);
  assert.match(await openLink(second, first.dashboardUrl), /^\/environments\/\w+\/flags$/);
  assert.equal(await openLink(second, first.dashboardUrl), "/sign-in?link=expired");
  await second.close();
  rmSync(folder, { recursive: true, force: true });
  await dropDatabase(basename(folder));
});

test("sessions from before there were people go on, as those of keys", async () => {
  const folder = newFolder();
  const first = await startTestServer({ HALYARD_DATA: folder });
  const { name, keys, admin } = await first.environment();
  await admin("POST", "/flags", { key: "a", type: "boolean" });
  const before = await signInWith(first, [keys.admin]);
  const { cookie, csrf } = before;
  await first.close();
  await setBack(folder, schemaWithoutPeople);

  const second = await startTestServer({ HALYARD_DATA: folder });
  const headers = before.headersFor(name);
  const changed = await second.anonymous("PATCH", "/flags/a", { enabled: true }, headers);
  assert.equal(changed.status, 200, changed.text);
  const [entry] = (await second.api(keys.admin)("GET", "/flags/a/history")).body as object[];
  const keyId = keys.admin.split("_")[1];
  assert.partialDeepStrictEqual(entry, { actor: { keyId, name: "admin" } });
  const session = await second.anonymous("GET", "//session", undefined, { cookie });
  assert.partialDeepStrictEqual(session.body, {
    ...{ csrf, user: null, isOwner: false, method: "key" },
    environments: [{ name, role: "admin", label: null, protected: false }],
  });
  assert.equal((await second.anonymous("GET", "/users", undefined, headers)).status, 403);
  assert.equal((await second.anonymous("DELETE", "//session", undefined, headers)).status, 204);
  await second.close();
  rmSync(folder, { recursive: true, force: true });
  await dropDatabase(basename(folder));
});
