// Change requests in SQL. A transaction that changes one holds the lock of its environment.
import type { Selectable } from "kysely";
import { type Actor, withoutAddress } from "../../platform/auth/principal.ts";
import type { Db, Tx } from "../../platform/database/db.ts";
import { batchesOf, idList } from "../../platform/database/schema/id-list.ts";
import type { Tables } from "../../platform/database/schema/tables.ts";
import { dateOf } from "../../platform/database/schema/times.ts";
import type {
  Approval,
  ChangeRequest,
  Comment,
  DueRequest,
  RequestQuery,
  RequestRow,
  RequestState,
  RequestSummary,
  Versions,
} from "./change-request.ts";

const columns = [
  "change_requests.id",
  "environments.name as environment",
  "change_requests.state",
  "title",
  "reason",
  "author",
  "authors",
  "change_requests.created_at",
  "updated_at",
  "apply_at",
  "applied_at",
  "applied_revision",
  "closed_by",
  "bypass",
] as const;

type Row = Omit<
  Selectable<Tables["change_requests"]>,
  "environment_id" | "operations" | "summary"
> & { readonly environment: string };

const parse = <T>(json: string | null): T | null =>
  json === null ? null : (JSON.parse(json) as T);

const summaryOf = (row: Row, operations: string): RequestSummary => ({
  id: row.id,
  environment: row.environment,
  state: row.state as RequestState,
  title: row.title,
  reason: row.reason,
  author: JSON.parse(row.author),
  authors: JSON.parse(row.authors),
  createdAt: new Date(row.created_at),
  updatedAt: new Date(row.updated_at),
  applyAt: dateOf(row.apply_at),
  appliedAt: dateOf(row.applied_at),
  appliedRevision: row.applied_revision,
  closedBy: parse(row.closed_by),
  bypass: parse(row.bypass),
  operations: JSON.parse(operations),
});

const requests = ({ database }: Db, environmentId: number) =>
  database
    .selectFrom("change_requests")
    .innerJoin("environments", "environments.id", "change_requests.environment_id")
    .select(columns)
    .where("change_requests.environment_id", "=", environmentId);

export const findChangeRequest = async (
  db: Db,
  environmentId: number,
  id: string,
): Promise<ChangeRequest | undefined> => {
  const row = await requests(db, environmentId)
    .select("operations")
    .where("change_requests.id", "=", id)
    .executeTakeFirst();
  if (!row) return undefined;
  const entries = await db.database
    .selectFrom("change_request_entries")
    .select(["number", "kind", "at", "actor", "text", "voided"])
    .where("request_id", "=", id)
    .orderBy("number")
    .execute();
  const of = (kind: string) => entries.filter((entry) => entry.kind === kind);
  return {
    ...(summaryOf(row, row.operations) as RequestSummary & Pick<ChangeRequest, "operations">),
    approvals: of("approval").map(
      ({ actor, at, voided }): Approval => ({
        actor: JSON.parse(actor),
        at: new Date(at),
        state: voided === 1 ? "voided" : "given",
      }),
    ),
    comments: of("comment").map(
      ({ number, actor, at, text }): Comment => ({
        id: number,
        actor: JSON.parse(actor),
        at: new Date(at),
        text: text ?? "",
      }),
    ),
  };
};

/** Newest first. */
export const listChangeRequests = async (
  db: Db,
  environmentId: number,
  { states, limit, before }: RequestQuery,
): Promise<readonly RequestSummary[]> => {
  const rows = await requests(db, environmentId)
    .select("summary")
    .$if(states !== undefined, (all) =>
      all.where("change_requests.state", "in", [...(states ?? [])]),
    )
    .$if(before !== undefined, (all) =>
      all.where((row) =>
        row.eb(
          row.refTuple("change_requests.created_at", "change_requests.id"),
          "<",
          row.tuple(before?.at.getTime() ?? 0, before?.id ?? ""),
        ),
      ),
    )
    .orderBy("change_requests.created_at", "desc")
    .orderBy("change_requests.id", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => summaryOf(row, row.summary));
};

/** Those that are open or wait for their time. */
export const countPendingRequests = async (
  { database }: Db,
  environmentId: number,
): Promise<number> => {
  const row = await database
    .selectFrom("change_requests")
    .select(({ fn }) => fn.countAll().as("count"))
    .where("environment_id", "=", environmentId)
    .where("state", "in", ["open", "approved"])
    .executeTakeFirst();
  return Number(row?.count ?? 0);
};

/** Approved ones whose time has come, the earliest first. */
export const listDueRequests = (
  { database }: Db,
  now: Date,
  limit: number,
): Promise<readonly DueRequest[]> =>
  database
    .selectFrom("change_requests")
    .select(["id", "environment_id as environmentId"])
    .where("state", "=", "approved")
    .where("apply_at", "<=", now.getTime())
    .orderBy("apply_at")
    .limit(limit)
    .execute();

export const listVersions = async (
  { database }: Db,
  environmentId: number,
  kind: "flag" | "segment",
  keys: readonly string[],
): Promise<Versions> => {
  const versions = new Map<string, number>();
  for (const part of batchesOf(keys)) {
    const rows = await database
      .selectFrom(kind === "flag" ? "flags" : "segments")
      .select(["key", "version"])
      .where("environment_id", "=", environmentId)
      .where("key", "in", idList(part))
      .execute();
    for (const { key, version } of rows) versions.set(key, version);
  }
  return versions;
};

const actorJson = (actor: Actor): string => JSON.stringify(withoutAddress(actor));

const rowOf = (request: RequestRow) => ({
  state: request.state,
  reason: request.reason,
  title: request.title,
  updated_at: request.updatedAt.getTime(),
  apply_at: request.applyAt?.getTime() ?? null,
  applied_at: request.appliedAt?.getTime() ?? null,
  applied_revision: request.appliedRevision,
  closed_by: request.closedBy && actorJson(request.closedBy),
  bypass: request.bypass && JSON.stringify(request.bypass),
  summary: JSON.stringify(
    request.operations.map(({ kind, key, action, version }) => ({ kind, key, action, version })),
  ),
  operations: JSON.stringify(request.operations),
});

const insertEntry = async (
  { database }: Tx,
  requestId: string,
  kind: "approval" | "comment",
  { actor, at, text = null }: Pick<Approval, "actor" | "at"> & { readonly text?: string | null },
): Promise<void> => {
  await database
    .insertInto("change_request_entries")
    .values((row) => ({
      request_id: requestId,
      number: row
        .selectFrom("change_request_entries as earlier")
        .select((each) =>
          each
            .eb(each.fn.coalesce(each.fn.max("earlier.number"), each.val(0)), "+", 1)
            .as("number"),
        )
        .where("earlier.request_id", "=", requestId),
      kind,
      at: at.getTime(),
      actor: actorJson(actor),
      text,
    }))
    .execute();
};

export const insertChangeRequest = async (
  { database }: Tx,
  environmentId: number,
  request: RequestRow,
): Promise<void> => {
  await database
    .insertInto("change_requests")
    .values({
      id: request.id,
      environment_id: environmentId,
      author: actorJson(request.author),
      authors: JSON.stringify(request.authors),
      created_at: request.createdAt.getTime(),
      ...rowOf(request),
    })
    .execute();
};

export const updateChangeRequest = async ({ database }: Tx, request: RequestRow): Promise<void> => {
  await database
    .updateTable("change_requests")
    .set(rowOf(request))
    .where("id", "=", request.id)
    .execute();
};

export const insertApproval = (
  tx: Tx,
  requestId: string,
  approval: Pick<Approval, "actor" | "at">,
): Promise<void> => insertEntry(tx, requestId, "approval", approval);

export const insertComment = (
  tx: Tx,
  requestId: string,
  comment: Omit<Comment, "id">,
): Promise<void> => insertEntry(tx, requestId, "comment", comment);

/** All, or those of these actors alone. */
export const voidApprovals = async (
  { database }: Tx,
  requestId: string,
  actors?: readonly Actor[],
): Promise<void> => {
  await database
    .updateTable("change_request_entries")
    .set({ voided: 1 })
    .where("request_id", "=", requestId)
    .where("kind", "=", "approval")
    .$if(actors !== undefined, (all) => all.where("actor", "in", actors?.map(actorJson) ?? []))
    .execute();
};
