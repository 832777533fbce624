// A change request with what has moved on since it was made.
import { createHash } from "node:crypto";
import { isUserId } from "../../platform/auth/principal.ts";
import type { Db } from "../../platform/database/db.ts";
import { fail, notFound, ok, type Result } from "../../platform/errors.ts";
import type { Precondition } from "../../platform/precondition.ts";
import { hasAccount } from "../people/access.ts";
import { type ChangeRequest, movedOf, operationOf, type RequestSummary } from "./change-request.ts";
import { findChangeRequest, listVersions } from "./queries.ts";
import { lapsedApprovals } from "./rights.ts";
import { approvalsFor, withoutApprovals } from "./rules.ts";

/** `moved` has the keys of what has changed since. */
export type WithMoved<T> = T & { readonly moved: readonly string[] };
export interface ShownRequest extends WithMoved<ChangeRequest> {
  /** Of all that its author can edit: whoever approves says with it what they have seen. */
  readonly digest: string;
  /** The number of approvals needed, unless an owner approves. */
  readonly approvalsNeeded: number;
}

/** Whether the request belongs to a person: its author, or the issuer of the key that proposed it. */
const hasPerson = async (db: Db, authors: readonly string[]): Promise<boolean> => {
  for (const id of authors.filter(isUserId)) if (await hasAccount(db, id)) return true;
  return false;
};

export const approvalsNeeded = async (
  db: Db,
  { authors }: Pick<ChangeRequest, "authors">,
): Promise<number> => approvalsFor(await hasPerson(db, authors));

const digestOf = ({ operations, reason, applyAt }: ChangeRequest): string => {
  const content = operations.map((each) => [operationOf(each), each.version]);
  return createHash("sha256")
    .update(JSON.stringify([content, reason, applyAt]))
    .digest("base64url");
};

/** The author can edit a request during its review: a reviewer approves only the content they read. */
export const checkSeen = (request: ChangeRequest, seen: Precondition): Result<void> => {
  const digest = digestOf(request);
  if (seen === undefined || seen === "*" || seen.includes(digest)) return ok(undefined);
  const message = `The change request "${request.id}" was edited after you looked at it; look at it again.`;
  return fail({ code: "PRECONDITION_FAILED", message, digest });
};

export const withMoved = async <T extends RequestSummary>(
  db: Db,
  environmentId: number,
  requests: readonly T[],
): Promise<readonly WithMoved<T>[]> => {
  const keysOf = (kind: "flag" | "segment") => {
    const operations = requests.flatMap((request) => request.operations);
    return [...new Set(operations.filter((each) => each.kind === kind).map(({ key }) => key))];
  };
  const [flag, segment] = await Promise.all([
    listVersions(db, environmentId, "flag", keysOf("flag")),
    listVersions(db, environmentId, "segment", keysOf("segment")),
  ]);
  return requests.map((request) => ({ ...request, moved: movedOf(request, { flag, segment }) }));
};

export const showRequest = async (
  db: Db,
  environmentId: number,
  id: string,
): Promise<Result<ShownRequest>> => {
  const stored = await findChangeRequest(db, environmentId, id);
  if (!stored) return notFound("The change request", id);
  const lapsed = stored.state === "open" ? await lapsedApprovals(db, environmentId, stored) : [];
  const [shown] = await withMoved(db, environmentId, [withoutApprovals(stored, lapsed)]);
  if (!shown) return notFound("The change request", id);
  const needed = await approvalsNeeded(db, shown);
  return ok({ ...shown, digest: digestOf(shown), approvalsNeeded: needed });
};
