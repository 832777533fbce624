// A change request with what has moved on since it was made.
import {
  type ChangeRequest,
  type ChangeRequestReads,
  movedOf,
  type RequestSummary,
} from "../../domain/change-requests/change-request.ts";
import { notFound, ok, type Result } from "../../errors.ts";

/** `moved` has the keys of what has changed since. */
export type WithMoved<T> = T & { readonly moved: readonly string[] };
export type ShownRequest = WithMoved<ChangeRequest>;

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
  return shown ? ok(shown) : notFound("The change request", id);
};
