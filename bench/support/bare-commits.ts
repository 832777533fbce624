// The rows of one change of a flag written by the plain drivers, as often as it goes: the ceiling for writes.
import { randomUUIDv7 } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";

export interface BareCommits {
  /** Makes so many commits; gives commits a second. */
  run(count: number): Promise<number>;
  /** Makes one. */
  one(): Promise<void>;
  close(): Promise<void>;
}

/** As many bytes as a change of a description leaves in the history and in its event. */
const shown =
  '{"key":"flag-00001","type":"rollout","enabled":false,"percentage":0,"description":"changed 123456"}';
const digest = "0123456789abcdef".repeat(4);
const body = Buffer.from(
  `{"id":"evt_0123456789abcdef0123456789abcdef","type":"flag.updated","createdAt":"2026-11-14T12:00:00.000Z","environment":"development","sequence":123456,"chain":"${digest}","data":{"flag":${shown},"version":123,"previous":{"description":"changed 123455"}},"actor":{"keyId":"0123456789abcdef","name":"bootstrap"}}`,
);
const history =
  "environment_id, revision, subject, subject_id, version, at, actor_key_id, actor_name, actions, before, after, digest, chain";
const event = "environment_id, sequence, id, type, ordering_key, created_at, body";

const eventId = () => `evt_${randomUUIDv7().replaceAll("-", "")}`;

let changes = 0;
const nextKey = (flags: number): string => {
  changes += 1;
  return `flag-${String((changes * 7_919) % flags).padStart(5, "0")}`;
};
const rate = (count: number, started: number) => count / ((performance.now() - started) / 1_000);

/** On the database of a Halyard that has been stopped, so that tables and indexes are the same. */
const bareSqlite = (folder: string, flags: number): BareCommits => {
  const database = new DatabaseSync(join(folder, "halyard.db"));
  database.exec("pragma journal_mode = wal; pragma synchronous = full");
  const prepare = (text: string) => database.prepare(text);
  const begin = prepare("begin immediate");
  const bump = prepare(
    `update environments set revision = revision + 1, sequence = sequence + 1, changed_at = ?, chain = ? where name = 'development' returning id, revision, sequence`,
  );
  const change = prepare(
    "update flags set description = ?, version = version + 1 where environment_id = ? and key = ?",
  );
  const remember = prepare(
    `insert into history (${history}) values (?, ?, 'flag', ?, 1, ?, '0123456789abcdef', 'bootstrap', '["flag.updated"]', ?, ?, ?, ?)`,
  );
  const tell = prepare(`insert into events (${event}) values (?, ?, ?, 'flag.updated', ?, ?, ?)`);
  const commit = prepare("commit");
  const commitOne = (): void => {
    const key = nextKey(flags);
    const at = Date.now();
    begin.run();
    const row = bump.get(at, digest) as Record<"id" | "revision" | "sequence", number>;
    change.run(`changed ${changes}`, row.id, key);
    remember.run(row.id, row.revision, key, at, shown, shown, digest, digest);
    tell.run(row.id, row.sequence, eventId(), key, at, body);
    commit.run();
  };
  return {
    async run(count) {
      const started = performance.now();
      for (let done = 0; done < count; done += 1) commitOne();
      return rate(count, started);
    },
    async one() {
      commitOne();
    },
    async close() {
      database.close();
    },
  };
};

/** One statement, so that a commit is one round trip. */
const statement = `with bumped as (
    update environments set revision = revision + 1, sequence = sequence + 1, changed_at = $6, chain = $7
    where name = 'development' returning id, revision, sequence
  ), changed as (
    update flags set description = $1, version = version + 1
    from bumped where environment_id = bumped.id and key = $2
  ), remembered as (
    insert into history (${history})
    select id, revision, 'flag', $2, 1, $6, '0123456789abcdef', 'bootstrap', '["flag.updated"]', $3, $3, $7, $7
    from bumped
  )
  insert into events (${event}) select id, sequence, $4, 'flag.updated', $2, $6, $5 from bumped`;

const barePostgres = async (
  url: string,
  flags: number,
  connections: number,
): Promise<BareCommits> => {
  const clients = Array.from({ length: connections }, () => new Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  const free = [...clients];
  const commitOn = async (client: Client): Promise<void> => {
    const key = nextKey(flags);
    const values = [`changed ${changes}`, key, shown, eventId(), body, Date.now(), digest];
    await client.query({ name: "change", text: statement, values });
  };
  return {
    async run(count) {
      let left = count;
      const started = performance.now();
      await Promise.all(
        clients.map(async (client) => {
          while (left > 0) {
            left -= 1;
            await commitOn(client);
          }
        }),
      );
      return rate(count, started);
    },
    async one() {
      const client = free.pop();
      if (!client) throw new Error("More requests at once than connections.");
      await commitOn(client);
      free.push(client);
    },
    async close() {
      await Promise.all(clients.map((client) => client.end()));
    },
  };
};

/** In the folder of an embedded store, or in the database of this address. */
export const bareCommits = async (
  store: string,
  flags: number,
  connections: number,
): Promise<BareCommits> =>
  store.startsWith("postgres") ? barePostgres(store, flags, connections) : bareSqlite(store, flags);
