// A change request with what has moved on since it was made.
import { createHash } from "node:crypto";
import type { Precondition } from "../../domain/change-flag.ts";
import {
  type ChangeRequest,
  type ChangeRequestReads,
  movedOf,
  operationOf,
  type RequestSummary,
} from "../../domain/change-requests/change-request.ts";
import { fail, notFound, ok, type Result } from "../../errors.ts";

/** `moved` has the keys of what has changed since. */
export type WithMoved<T> = T & { readonly moved: readonly string[] };
export interface ShownRequest extends WithMoved<ChangeRequest> {
  /** Of all that its author can edit: whoever approves says with it what they have seen. */
  readonly digest: string;
}

const digestOf = ({ operations, reason, applyAt }: ChangeRequest): string => {
  const content = operations.map((each) => [operationOf(each), each.version]);
  return createHash("sha256")
    .update(JSON.stringify([content, reason, applyAt]))
    .digest("base64url");
};

/** Its author may edit it while somebody reads it: what they have not seen they do not approve. */
export const checkSeen = (request: ChangeRequest, seen: Precondition): Result<void> =>
  seen === undefined || seen === "*" || seen.includes(digestOf(request))
    ? ok(undefined)
    : fail({
        code: "PRECONDITION_FAILED",
        message: `The change request "${request.id}" was edited after you looked at it; look at it again.`,
      });

export const withMoved = async <T extends RequestSummary>(
  reads: ChangeRequestReads,
  environmentId: number,
  requests: readonly T[],
): Promise<readonly WithMoved<T>[]> => {
  const keysOf = (kind: "flag" | "segment") => {
    const operations = requests.flatMap((request) => request.operations);
    return [...new Set(operations.filter((each) => each.kind === kind).map(({ key }) => key))];
  };
  const [flag, segment] = await Promise.all([
    reads.versions(environmentId, "flag", keysOf("flag")),
    reads.versions(environmentId, "segment", keysOf("segment")),
  ]);
  return requests.map((request) => ({ ...request, moved: movedOf(request, { flag, segment }) }));
};

export const showRequest = async (
  reads: ChangeRequestReads,
  environmentId: number,
  id: string,
): Promise<Result<ShownRequest>> => {
  const found = await reads.changeRequest(environmentId, id);
  const [shown] = found ? await withMoved(reads, environmentId, [found]) : [];
  return shown ? ok({ ...shown, digest: digestOf(shown) }) : notFound("The change request", id);
};
