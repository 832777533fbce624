// A store of version 0.1 opens: everything in it is as before, and it can be changed.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
import { migrations } from "../src/store/schema/migrate.ts";
import { readRows, writeRows } from "./support/database.ts";
import { dropDatabase } from "./support/postgres.ts";
import { newFolder, startTestServer } from "./support/server.ts";

/** The schema of version 0.1. */
const schemaBefore = 6;

const setBack = async (folder: string): Promise<void> => {
  const place = { folder };
  for (const statement of [
    "drop index history_by_actor_user",
    "alter table history drop column actor_user_id",
    "alter table history drop column actor_user_name",
    "drop table change_request_entries",
    "drop table change_requests",
    "alter table history drop column review",
    "alter table api_keys drop column created_by",
    ...["label", "color", "protected", "expires_at"].map(
      (column) => `alter table environments drop column ${column}`,
    ),
    "alter table sign_in_links drop column user_id",
    "drop index api_keys_by_user",
    ...["user_id", "kind", "from_group", "writes_directly"].map(
      (column) => `alter table api_keys drop column ${column}`,
    ),
    "drop table identities",
    "drop table users",
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
    `update schema_version set version = ${schemaBefore}`,
  ]) {
    await writeRows(place, statement);
  }
};

test("flags, versions, history and keys of version 0.1 are there after the upgrade", async () => {
  const folder = newFolder();
  const first = await startTestServer({ HALYARD_DATA: folder });
  const { keys, admin } = await first.environment();
  await admin("POST", "/flags", { key: "a", type: "boolean", description: "ä" });
  await admin("PATCH", "/flags/a", { enabled: true });
  await admin("POST", "/flags", { key: "b", type: "rollout", percentage: 33.333 });
  await admin("POST", "/webhooks", { url: "https://example.com/hook", events: ["*"] });
  const paths = ["/flags", "/flags/a", "/flags/b", "/flags/a/history", "/history", "/webhooks"];
  const read = async (api: typeof admin) =>
    Promise.all(paths.map(async (path) => (await api("GET", path)).text));
  const before = await read(admin);
  await first.close();
  await setBack(folder);

  const second = await startTestServer({ HALYARD_DATA: folder });
  const after = second.api(keys.admin);
  assert.deepEqual(await read(after), before);
  const [row] = await readRows({ folder }, "select version from schema_version");
  assert.equal(row?.version, migrations.length);
  assert.ok(migrations.length > schemaBefore);
  const changed = await after("PATCH", "/flags/b", { percentage: 50 });
  assert.equal(changed.headers.get("etag"), '"2"');
  const evaluated = await second.api(keys.client)("POST", "//ofrep/v1/evaluate/flags/a", {
    context: {},
  });
  assert.equal((evaluated.body as { value: boolean }).value, true);
  await second.close();
  rmSync(folder, { recursive: true, force: true });
  await dropDatabase(basename(folder));
});
