// The management API as typed calls. They return errors as values and never throw.
import { isSameFlag } from "@halyard/core/difference";
import { applyPatch } from "@halyard/core/flags/change";
import type { Flag } from "@halyard/core/flags/registry";
import type { Address } from "../transport/address.ts";
import type { ApiKey, CreatedApiKey, NewApiKey, OwnApiKey } from "./api-keys.ts";
import {
  type CallOptions,
  type ChangeOptions,
  type CreateOptions,
  createSend,
  matching,
  type PostOptions,
  pathPart,
} from "./call.ts";
import { changeRequestCalls } from "./changes/change-request-calls.ts";
import { previewCalls } from "./changes/preview-calls.ts";
import type { ClientsQuery, Programs } from "./clients.ts";
import { environmentCalls } from "./environments.ts";
import type { EvaluationError } from "./evaluation-errors.ts";
import { personalKeyCalls, userCalls } from "./people/people-calls.ts";
import type {
  DeliveryQuery,
  EventQuery,
  FlagQuery,
  HistoryQuery,
  PageQuery,
  PastQuery,
} from "./queries.ts";
import type {
  CreatedWebhook,
  Delivery,
  DetailedWebhookHealth,
  FlagHistoryEntry,
  FlagPatch,
  FlagUsage,
  HistoryEntry,
  HistoryVerification,
  NewFlag,
  NewWebhook,
  Replay,
  ReplayRange,
  RetriedDeliveries,
  RotatedSecret,
  SentDelivery,
  UsageSummary,
  Webhook,
  WebhookHealth,
  WebhookPatch,
} from "./resources.ts";
import type { ManagementError, Result } from "./result.ts";
import { segmentCalls } from "./segment-calls.ts";
import type {
  ChangedFlags,
  ExplainRequest,
  FlagChange,
  FlagExplanation,
  SnapshotContent,
} from "./segments.ts";
import type { WebhookEvent } from "./webhook-event.ts";

const queryOf = (query: object): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
};

const ofChanges = { takesReason: true, isLimited: true } as const;

const failed = (error: ManagementError): Result<never> => ({ ok: false, error });
/** Not found on a retry: the first attempt deleted it. */
const goneIsDone = (error: ManagementError): Result<undefined> =>
  error.code === "NOT_FOUND" ? { ok: true, value: undefined } : failed(error);

/** On a retry, a failed precondition means success if the flag is one version ahead and has the requested values. */
const changedAsAsked =
  (patch: FlagPatch, ifMatch: number | undefined) =>
  (error: ManagementError): Result<Flag> => {
    const { current, currentVersion } = error;
    if (current === undefined || ifMatch === undefined || currentVersion !== ifMatch + 1) {
      return failed(error);
    }
    const patched = applyPatch(current, patch);
    return patched.ok && isSameFlag(patched.flag, current)
      ? { ok: true, value: current, version: currentVersion }
      : failed(error);
  };

export interface ManagementOptions extends Address {
  /** The reason of all changes of flags and segments that have none of their own. */
  readonly reason?: string;
  /** For owners: all changes of flags and segments bypass the approval of a protected environment. Needs a reason. */
  readonly bypass?: boolean;
  /** Accepts up to this percentage of changed evaluations, even beyond the impact limit. */
  readonly confirmFlips?: number;
  /** After it aborts, calls start no further attempts and end their pauses. A running attempt is not aborted. */
  readonly retryUntil?: AbortSignal;
}

export const createManagement = (address: ManagementOptions) => {
  const send = createSend(address);
  const get = <T>(path: string, options?: CallOptions): Promise<Result<T>> =>
    send<T>({ method: "GET", path, repeatable: true, options });
  const post = <T>(path: string, body: unknown, options?: PostOptions): Promise<Result<T>> =>
    send<T>({ method: "POST", path, body, repeatable: true, options });
  const postChange = <T>(path: string, body: unknown, options?: CreateOptions) =>
    send<T>({ method: "POST", path, body, repeatable: true, ...ofChanges, options });
  // Ids are never reused, so a retry cannot delete anything else.
  const remove = (path: string, options?: CallOptions): Promise<Result<undefined>> =>
    send({ method: "DELETE", path, repeatable: true, reconsider: goneIsDone, options });

  /** Yields page after page and ends after an error. */
  const pages = async function* <T>(
    path: string,
    query: PageQuery,
    options?: CallOptions,
  ): AsyncGenerator<Result<T>, void, undefined> {
    let { cursor } = query;
    do {
      const page = await get<T>(path + queryOf({ ...query, cursor }), options);
      yield page;
      cursor = page.ok ? page.next : undefined;
    } while (cursor !== undefined);
  };

  const flags = {
    list: (query: FlagQuery = {}, options?: CallOptions) =>
      get<Flag[]>(`/flags${queryOf(query)}`, options),
    pages: (query: FlagQuery = {}, options?: CallOptions) =>
      pages<Flag[]>("/flags", { limit: 1_000, ...query }, options),
    get: (key: string, { at, revision, ...options }: CallOptions & PastQuery = {}) =>
      get<Flag>(`/flags/${pathPart(key)}${queryOf({ at, revision })}`, options),
    create: (flag: NewFlag, options?: CreateOptions) => postChange<Flag>("/flags", flag, options),
    update: (key: string, patch: FlagPatch, options: ChangeOptions = {}) =>
      send<Flag>({
        method: "PATCH",
        path: `/flags/${pathPart(key)}`,
        body: patch,
        ...matching(options.ifMatch),
        repeatable: options.ifMatch !== undefined,
        reconsider: changedAsAsked(patch, options.ifMatch),
        ...ofChanges,
        options,
      }),
    delete: (key: string, options: ChangeOptions = {}) =>
      send<undefined>({
        method: "DELETE",
        path: `/flags/${pathPart(key)}`,
        ...matching(options.ifMatch),
        repeatable: options.ifMatch !== undefined,
        reconsider: goneIsDone,
        ...ofChanges,
        options,
      }),
    /** At most 100, all of them or none. */
    changeTogether: (changes: readonly FlagChange[], options?: CreateOptions) =>
      postChange<ChangedFlags>("/changes", { changes }, options),
    /** Every step of the decision for a context. */
    explain: (key: string, request: ExplainRequest, options?: CallOptions) =>
      send<FlagExplanation>({
        method: "POST",
        path: `/flags/${pathPart(key)}/explain`,
        body: request,
        repeatable: true,
        options,
      }),
    history: (key: string, query: PageQuery = {}, options?: CallOptions) =>
      get<FlagHistoryEntry[]>(`/flags/${pathPart(key)}/history${queryOf(query)}`, options),
    historyPages: (key: string, query: PageQuery = {}, options?: CallOptions) =>
      pages<FlagHistoryEntry[]>(`/flags/${pathPart(key)}/history`, query, options),
    usage: (key: string, query: { readonly hours?: number } = {}, options?: CallOptions) =>
      get<FlagUsage>(`/flags/${pathPart(key)}/usage${queryOf(query)}`, options),
  };

  const webhook = (id: string) => `/webhooks/${pathPart(id)}`;
  const webhooks = {
    list: (options?: CallOptions) => get<Webhook[]>("/webhooks", options),
    get: (id: string, options?: CallOptions) => get<Webhook>(webhook(id), options),
    create: (made: NewWebhook, options?: PostOptions) =>
      post<CreatedWebhook>("/webhooks", made, options),
    /** Not retried after a lost response: that could undo a change made in between. */
    update: (id: string, patch: WebhookPatch, options?: CallOptions) =>
      send<Webhook>({
        method: "PATCH",
        path: webhook(id),
        body: patch,
        repeatable: false,
        options,
      }),
    delete: (id: string, options?: CallOptions) => remove(webhook(id), options),
    /** Sends `webhook.test`, or an event that looks like one of this type, to this webhook alone. */
    test: (
      id: string,
      test: { readonly type?: WebhookEvent["type"] } = {},
      options?: PostOptions,
    ) => post<Delivery>(`${webhook(id)}/test`, test, options),
    /** The pending deliveries of each webhook, and the outcomes of its latest attempts. */
    health: (options?: CallOptions) => get<WebhookHealth[]>("/webhook-health", options),
    healthOf: (id: string, options?: CallOptions) =>
      get<DetailedWebhookHealth>(`${webhook(id)}/health`, options),
    /** Deliveries that wait for a retry are attempted now; up to 500 failed ones get one more attempt. */
    retry: (id: string, options?: PostOptions) =>
      post<RetriedDeliveries>(`${webhook(id)}/retry`, {}, options),
    rotateSecret: (
      id: string,
      rotation: { readonly immediately?: boolean } = {},
      options?: PostOptions,
    ) => post<RotatedSecret>(`${webhook(id)}/secret/rotate`, rotation, options),
    deliveries: (id: string, query: DeliveryQuery = {}, options?: CallOptions) =>
      get<Delivery[]>(`${webhook(id)}/deliveries${queryOf(query)}`, options),
    deliveryPages: (id: string, query: DeliveryQuery = {}, options?: CallOptions) =>
      pages<Delivery[]>(`${webhook(id)}/deliveries`, query, options),
    delivery: (id: string, deliveryId: string, options?: CallOptions) =>
      get<SentDelivery>(`${webhook(id)}/deliveries/${pathPart(deliveryId)}`, options),
    replayDelivery: (id: string, deliveryId: string, options?: PostOptions) =>
      post<Delivery>(`${webhook(id)}/deliveries/${pathPart(deliveryId)}/replay`, {}, options),
    replay: (id: string, range: ReplayRange, options?: PostOptions) =>
      post<Replay>(`${webhook(id)}/replay`, range, options),
    replayProgress: (id: string, options?: CallOptions) =>
      get<Replay>(`${webhook(id)}/replay`, options),
    stopReplay: (id: string, options?: CallOptions) => remove(`${webhook(id)}/replay`, options),
  };

  const keys = {
    /** The key of the caller, for every role. */
    current: (options?: CallOptions) => get<OwnApiKey>("/key", options),
    list: (options?: CallOptions) => get<ApiKey[]>("/keys", options),
    create: (made: NewApiKey, options?: PostOptions) => post<CreatedApiKey>("/keys", made, options),
    revoke: (id: string, options?: CallOptions) => remove(`/keys/${pathPart(id)}`, options),
  };

  return {
    flags,
    /** The users that changes would affect. */
    preview: previewCalls(send),
    /** Changes that wait for approval, in protected environments. */
    changeRequests: changeRequestCalls({ send, get, queryOf }),
    segments: segmentCalls({ send, get, post: postChange, queryOf }),
    webhooks,
    keys,
    users: userCalls({ send, get, post, remove }),
    personalKeys: personalKeyCalls({ send, get, post, remove }),
    environments: environmentCalls({ send, get, post }),
    /** Every flag and every segment with its members, now or at an earlier time. */
    snapshot: (query: PastQuery = {}, options?: CallOptions) =>
      get<SnapshotContent>(`/snapshot${queryOf(query)}`, options),
    /** Every change of the environment, newest first. */
    history: (query: HistoryQuery = {}, options?: CallOptions) =>
      get<HistoryEntry[]>(`/history${queryOf(query)}`, options),
    historyPages: (query: HistoryQuery = {}, options?: CallOptions) =>
      pages<HistoryEntry[]>("/history", query, options),
    /** The server's check of whether history was changed afterwards. It may take a while. */
    verifyHistory: (options?: CallOptions) =>
      get<HistoryVerification>("/history/verification", { timeout: 600_000, ...options }),
    /** The history with its hashes as JSON lines, in parts, for a check without the server. */
    historyExport: (options?: CallOptions) =>
      pages<string>("/history/export", {}, { timeout: 60_000, ...options }),
    /** The events that webhooks receive, oldest first; without `after` and `since` the newest. */
    events: (query: EventQuery = {}, options?: CallOptions) =>
      get<Exclude<WebhookEvent, { type: "webhook.test" }>[]>(`/events${queryOf(query)}`, options),
    /** The clients that have applied a change: the server's instances, and programs that evaluate locally. */
    clients: (query: ClientsQuery = {}, options?: CallOptions) =>
      get<Programs>(`/clients${queryOf(query)}`, options),
    /** How often each flag was evaluated, to find unused flags. */
    usage: (query: { readonly hours?: number } = {}, options?: CallOptions) =>
      get<UsageSummary[]>(`/usage${queryOf(query)}`, options),
    /** Keys that programs evaluate but no flag has, and flags of another type than programs expect. */
    usageErrors: (query: { readonly hours?: number } = {}, options?: CallOptions) =>
      get<EvaluationError[]>(`/usage/errors${queryOf(query)}`, options),
  };
};

export type Management = ReturnType<typeof createManagement>;
