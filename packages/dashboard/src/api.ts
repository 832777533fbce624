// The server's API for the dashboard: typed calls with the session, and errors that queries can throw.
import {
  createManagement,
  type Management,
  type ManagementError,
  type ManagementOptions,
  type Result,
} from "@halyard/sdk";
import { takeFirst, takeFirstSession } from "./start/first-requests.ts";
import { isUserActive } from "./user-activity.ts";

export interface SessionEnvironment {
  readonly name: string;
  readonly role: "server" | "viewer" | "editor" | "admin" | "owner";
  /** What it may do there, by the names that the server has for it. */
  readonly permissions: readonly string[];
  readonly keyName: string;
  readonly keyId: string;
  /** What people call it; null when that is its name. */
  readonly label: string | null;
  readonly color: string | null;
  /** Whether changes need the approval of a second person. */
  readonly protected: boolean;
  /** Whether its key changes a protected environment without one. */
  readonly writesDirectly: boolean;
}

/** The person who is signed in. */
export interface SessionUser {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly isOwner: boolean;
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  /** Names of the providers that they sign in with. */
  readonly providers: readonly string[];
}

export interface Session {
  readonly csrf: string;
  readonly endsAt: string;
  /** Of a person it may be none. */
  readonly environments: readonly SessionEnvironment[];
  /** Null for those who have signed in with keys. */
  readonly user: SessionUser | null;
}

/** Queries throw it: TanStack Query has no other way to report a failure. */
export class ApiError extends Error {
  readonly failure: ManagementError;

  constructor(failure: ManagementError) {
    super(failure.message);
    this.name = "ApiError";
    this.failure = failure;
  }
}

/** For query functions. */
export const valueOrThrow = <T>(result: Result<T>): T => {
  if (result.ok) return result.value;
  throw new ApiError(result.error);
};

const isRead = (method: string): boolean => method === "GET" || method === "HEAD";

export type SessionFetch = typeof globalThis.fetch;

/** What every change carries. */
export interface CsrfToken {
  current: string;
}

/** A fetch that carries the session instead of a key; `onEnded` is called when the server no longer accepts it. */
export const createSessionFetch =
  (environment: string, csrf: CsrfToken, onEnded: () => void): SessionFetch =>
  async (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.delete("authorization");
    headers.set("x-halyard-environment", environment);
    if (!isUserActive()) headers.set("x-halyard-background", "1");
    const send = () => globalThis.fetch(input, { ...init, headers, credentials: "same-origin" });
    if (isRead(init.method ?? "GET")) {
      const first = typeof input === "string" ? await takeFirst(environment, input) : undefined;
      const response = first ?? (await send());
      if (response.status === 401) onEnded();
      return response;
    }
    const before = csrf.current;
    headers.set("x-halyard-csrf", before);
    let response = await send();
    // Another tab has signed in to one more environment: this session has a new token.
    const renewed =
      response.status === 403 ? await readSession().catch(() => undefined) : undefined;
    if (renewed !== undefined && renewed.csrf !== before) {
      csrf.current = renewed.csrf;
      headers.set("x-halyard-csrf", renewed.csrf);
      response = await send();
    }
    if (response.status === 401) onEnded();
    return response;
  };

/** `reason` goes with every change. */
export const createSessionManagement = (
  fetch: SessionFetch,
  options: Pick<ManagementOptions, "reason" | "retryUntil"> = {},
): Management => createManagement({ url: location.origin, key: "session", fetch, ...options });

const unexpected: ManagementError = {
  code: "UNEXPECTED_ANSWER",
  message: "The response is not from Halyard.",
};

/** A server that does not respond for so long is reported as one that cannot be reached. */
const longestWait = 15_000;

const sessionCall = async (
  path: string,
  init: RequestInit,
  first?: Response,
): Promise<Result<Session | undefined>> => {
  let response: Response;
  try {
    const signal = AbortSignal.timeout(longestWait);
    response = first ?? (await fetch(path, { ...init, credentials: "same-origin", signal }));
  } catch (cause) {
    return {
      ok: false,
      error: { code: "UNREACHABLE", message: "The server cannot be reached.", cause },
    };
  }
  if (response.status === 204) return { ok: true, value: undefined };
  const body: unknown = await response.json().catch(() => undefined);
  if (typeof body !== "object" || body === null) return { ok: false, error: unexpected };
  if (response.ok) return { ok: true, value: body as Session };
  const { error, message } = body as { error?: ManagementError["code"]; message?: string };
  if (error === undefined || message === undefined) return { ok: false, error: unexpected };
  return { ok: false, error: { code: error, message, status: response.status } };
};

/** Undefined when nobody is signed in. */
export const readSession = async (): Promise<Session | undefined> => {
  const result = await sessionCall("/session", {}, await takeFirstSession());
  if (!result.ok && result.error.code === "UNAUTHORIZED") return undefined;
  return valueOrThrow(result);
};

export const signIn = (key: string): Promise<Result<Session | undefined>> =>
  sessionCall("/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key }),
  });

/** Signs out of one environment, or of all. */
export const signOut = (
  csrf: string,
  environment?: string,
): Promise<Result<Session | undefined>> => {
  const path = environment === undefined ? "" : `/${encodeURIComponent(environment)}`;
  return sessionCall(`/session${path}`, {
    method: "DELETE",
    headers: { "x-halyard-csrf": csrf },
  });
};
