// The calls for segments.
import {
  type CallOptions,
  type ChangeOptions,
  type CreateOptions,
  type createSend,
  matching,
  pathPart,
} from "./call.ts";
import type { PastQuery } from "./queries.ts";
import type { Result } from "./result.ts";
import type {
  NewSegment,
  Segment,
  SegmentMembers,
  SegmentPatch,
  SegmentSummary,
  SegmentUse,
} from "./segments.ts";

interface Calls {
  readonly send: ReturnType<typeof createSend>;
  readonly get: <T>(path: string, options?: CallOptions) => Promise<Result<T>>;
  readonly post: <T>(path: string, body: unknown, options?: CreateOptions) => Promise<Result<T>>;
  readonly queryOf: (query: object) => string;
}

export const segmentCalls = ({ send, get, post, queryOf }: Calls) => {
  const changeSegment = <T>(
    method: "PATCH" | "POST" | "DELETE",
    path: string,
    body: unknown,
    { ifMatch, ...options }: ChangeOptions = {},
  ) =>
    send<T>({
      method,
      path: `/segments/${path}`,
      ...(body !== undefined && { body }),
      ...matching(ifMatch),
      // A POST has an Idempotency-Key: it is executed once.
      repeatable: method === "POST",
      takesReason: true,
      isLimited: true,
      options,
    });
  return {
    /** Without their members. */
    list: ({ at, revision, ...options }: CallOptions & PastQuery = {}) =>
      get<SegmentSummary[]>(`/segments${queryOf({ at, revision })}`, options),
    get: (key: string, { at, revision, ...options }: CallOptions & PastQuery = {}) =>
      get<Segment>(`/segments/${pathPart(key)}${queryOf({ at, revision })}`, options),
    create: (segment: NewSegment, options?: CreateOptions) =>
      post<SegmentSummary>("/segments", segment, options),
    update: (key: string, patch: SegmentPatch, options?: ChangeOptions) =>
      changeSegment<SegmentSummary>("PATCH", pathPart(key), patch, options),
    /** Large lists in parts of at most 256 KiB. */
    changeMembers: (key: string, members: SegmentMembers, options?: ChangeOptions) =>
      changeSegment<SegmentSummary>("POST", `${pathPart(key)}/members`, members, options),
    delete: (key: string, options?: ChangeOptions) =>
      changeSegment<undefined>("DELETE", pathPart(key), undefined, options),
    /** The flags that reference it. */
    flags: (key: string, options?: CallOptions) =>
      get<SegmentUse[]>(`/segments/${pathPart(key)}/flags`, options),
  };
};
