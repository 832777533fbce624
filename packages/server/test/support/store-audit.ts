// Reads the database of a server that is down, and finds whatever is half-written in it.
import assert from "node:assert/strict";
import { type Row, readRows } from "./database.ts";
import { onPostgres } from "./test-store.ts";
import { until } from "./until.ts";

export interface HistoryRow {
  readonly key: string;
  readonly version: number;
  readonly before: unknown;
  readonly after: unknown;
}

export interface Audit {
  /** The last history row of each flag that ever was. */
  readonly last: ReadonlyMap<string, HistoryRow>;
  find(key: string, version: number): HistoryRow | undefined;
}

interface EventBody {
  readonly type: string;
  readonly sequence: number;
  readonly data: { readonly flag: unknown; readonly version: number };
}

const parse = (text: Row[string] | undefined): unknown =>
  typeof text === "string" ? JSON.parse(text) : null;

/** Of one environment each of whose webhooks has wanted every event from the beginning. */
export const auditStore = async (
  folder: string,
  environment: string,
  webhooks = 1,
): Promise<Audit> => {
  const rows = (query: string, ...values: number[]) => readRows({ folder }, query, ...values);
  if (onPostgres) {
    // What a killed process has sent is still carried out.
    const others = `select pid from pg_stat_activity
      where datname = current_database() and application_name = 'halyard'`;
    await until("its connections are gone", async () => (await rows(others)).length === 0);
  } else {
    assert.deepEqual((await rows("pragma integrity_check")).map(Object.values), [["ok"]]);
    assert.deepEqual(await rows("pragma foreign_key_check"), []);
  }
  const found = (await rows("select * from environments")).find(({ name }) => name === environment);
  assert.ok(found);
  const id = Number(found.id);

  const history = await rows(
    `select revision, subject_id as key, version, actions, before, after from history
       where environment_id = ? and subject = 'flag' order by revision`,
    id,
  );
  assert.deepEqual(
    history.map(({ revision }) => revision),
    history.map((_, index) => index + 1),
    "revisions have no gap",
  );
  assert.equal(found.revision, history.length, "the revision is that of the last change");

  const events = await rows(
    `select sequence, type, ordering_key, body, id,
           (select count(*) from deliveries where event_id = events.id and kind = 'event') as deliveries
         from events where environment_id = ? and sequence is not null order by sequence`,
    id,
  );
  assert.deepEqual(
    events.map(({ sequence }) => sequence),
    events.map((_, index) => index + 1),
    "sequences have no gap",
  );
  assert.equal(found.sequence, events.length, "the sequence is that of the last event");
  const orphans = `select count(*) as count from deliveries where event_id not in (select id from events)
      or (state = 'pending' and queue_id not in (select id from delivery_queues))`;
  assert.equal(
    (await rows(orphans))[0]?.count,
    0,
    "every delivery has its event, and its queue while it is pending",
  );

  const last = new Map<string, HistoryRow>();
  const all = new Map<string, HistoryRow>();
  let next = 0;
  for (const row of history) {
    const key = String(row.key);
    const version = Number(row.version);
    const entry = { key, version, before: parse(row.before), after: parse(row.after) };
    const previous = last.get(key);
    assert.equal(version, (previous?.version ?? 0) + 1, `versions of ${key} have no gap`);
    assert.deepEqual(entry.before, previous?.after ?? null, `${key} goes on from where it was`);
    for (const type of parse(row.actions) as string[]) {
      const event = events[next];
      assert.ok(event, `${key} version ${version} lacks its event ${type}`);
      const body = JSON.parse(Buffer.from(event.body as Uint8Array).toString()) as EventBody;
      assert.deepEqual([event.type, event.ordering_key], [type, key]);
      assert.deepEqual([body.type, body.sequence, body.data.version], [type, next + 1, version]);
      assert.deepEqual(body.data.flag, entry.after ?? entry.before);
      assert.equal(event.deliveries, webhooks, `event ${next + 1} has its deliveries`);
      next += 1;
    }
    last.set(key, entry);
    all.set(`${key} ${version}`, entry);
  }
  assert.equal(next, events.length, "no event without its change");

  const flags = await rows("select * from flags where environment_id = ? order by key", id);
  const living = [...last.values()].filter(({ after }) => after !== null);
  assert.equal(found.flag_count, flags.length, "flag_count counts the flags");
  assert.deepEqual(
    flags.map(({ key, version, type, enabled, thousandths, description }) => ({
      key,
      version,
      flag: {
        key,
        type,
        enabled: enabled === 1,
        ...(thousandths !== null && { percentage: Number(thousandths) / 1_000 }),
        description,
      },
    })),
    living
      .map(({ key, version, after }) => ({ key, version, flag: after }))
      .sort((a, b) => (a.key < b.key ? -1 : 1)),
    "the flags are what history says",
  );
  return { last, find: (key, version) => all.get(`${key} ${version}`) };
};
