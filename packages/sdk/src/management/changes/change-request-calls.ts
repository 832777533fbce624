// The calls for change requests.
import {
  type CallOptions,
  type createSend,
  matching,
  type PostOptions,
  pathPart,
  type ReasonOption,
} from "../call.ts";
import type { Result } from "../result.ts";
import type {
  ChangeRequest,
  ChangeRequestPage,
  ChangeRequestQuery,
  NewChangeRequest,
  RebasedChangeRequest,
} from "./change-requests.ts";

type ConfirmOption = Pick<ReasonOption, "confirmFlips">;

interface Calls {
  readonly send: ReturnType<typeof createSend>;
  readonly get: <T>(path: string, options?: CallOptions) => Promise<Result<T>>;
  readonly queryOf: (query: object) => string;
}

export const changeRequestCalls = ({ send, get, queryOf }: Calls) => {
  const path = (id: string, step = ""): string => `/change-requests/${pathPart(id)}${step}`;
  /** Not retried after a lost response: it may have been executed, and the request may have changed since. */
  const step = (
    id: string,
    name: string,
    options?: CallOptions,
    body: object = {},
    seen?: string,
  ) =>
    send<ChangeRequest>({
      method: "POST",
      path: path(id, `/${name}`),
      body,
      ...matching(seen),
      repeatable: false,
      options,
    });

  return {
    /** Newest first, without the bodies of their operations. */
    list: (query: ChangeRequestQuery = {}, options?: CallOptions) =>
      get<ChangeRequestPage>(`/change-requests${queryOf(query)}`, options),
    get: (id: string, options?: CallOptions) => get<ChangeRequest>(path(id), options),
    create: (request: NewChangeRequest, options?: PostOptions & ConfirmOption) =>
      send<ChangeRequest>({
        method: "POST",
        path: "/change-requests",
        body: request,
        repeatable: true,
        isLimited: true,
        options,
      }),
    /** For the author. Clears the approvals. */
    update: (
      id: string,
      change: Partial<NewChangeRequest>,
      options?: CallOptions & ConfirmOption,
    ) =>
      send<ChangeRequest>({
        method: "PATCH",
        path: path(id),
        body: change,
        repeatable: false,
        isLimited: true,
        options,
      }),
    /** For another person than the author. Applies the request, unless it is scheduled. The digest says what was reviewed. */
    approve: (id: string, digest?: string, options?: CallOptions) =>
      step(id, "approve", options, {}, digest),
    refuse: (id: string, comment?: string, options?: CallOptions) =>
      step(id, "refuse", options, comment === undefined ? {} : { comment }),
    withdraw: (id: string, options?: CallOptions) => step(id, "withdraw", options),
    comment: (id: string, text: string, options?: PostOptions) =>
      send<ChangeRequest>({
        method: "POST",
        path: path(id, "/comments"),
        body: { text },
        repeatable: true,
        options,
      }),
    /** For the author: bases the same operations on the current state. Clears the approvals. */
    rebase: (id: string, options?: CallOptions & ConfirmOption) =>
      send<RebasedChangeRequest>({
        method: "POST",
        path: path(id, "/rebase"),
        body: {},
        repeatable: false,
        isLimited: true,
        options,
      }),
    /** Applies an approved request whose time has come. */
    apply: (id: string, options?: CallOptions) => step(id, "apply", options),
    /** For owners: applies it without an approval. */
    bypass: (id: string, reason: string, digest?: string, options?: CallOptions) =>
      step(id, "bypass", options, { reason }, digest),
  };
};
