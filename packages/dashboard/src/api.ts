// The server as this page sees it: typed calls that carry the session, and errors as queries want them.
import { createManagement, type Management, type ManagementError, type Result } from "@halyard/sdk";

export interface SessionEnvironment {
  readonly name: string;
  readonly role: "server" | "admin";
  readonly keyName: string;
  readonly keyId: string;
}

export interface Session {
  readonly csrf: string;
  readonly endsAt: string;
  readonly environments: readonly SessionEnvironment[];
}

/** What a query throws: TanStack Query knows failures no other way. */
export class ApiError extends Error {
  readonly failure: ManagementError;

  constructor(failure: ManagementError) {
    super(failure.message);
    this.name = "ApiError";
    this.failure = failure;
  }
}

/** The value, for the body of a query. */
export const valueOrThrow = <T>(result: Result<T>): T => {
  if (result.ok) return result.value;
  throw new ApiError(result.error);
};

const isRead = (method: string): boolean => method === "GET" || method === "HEAD";

export type SessionFetch = typeof globalThis.fetch;

/** A fetch that carries the session instead of a key; `onEnded` is told when the server no longer knows it. */
export const createSessionFetch =
  (environment: string, csrf: () => string, onEnded: () => void): SessionFetch =>
  async (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.delete("authorization");
    headers.set("x-halyard-environment", environment);
    if (!isRead(init.method ?? "GET")) headers.set("x-halyard-csrf", csrf());
    const answer = await globalThis.fetch(input, { ...init, headers, credentials: "same-origin" });
    if (answer.status === 401) onEnded();
    return answer;
  };

export const createSessionManagement = (fetch: SessionFetch): Management =>
  createManagement({ url: location.origin, key: "session", fetch });

const unexpected: ManagementError = {
  code: "UNEXPECTED_ANSWER",
  message: "The answer is not one of Halyard's.",
};

const sessionCall = async (
  path: string,
  init: RequestInit,
): Promise<Result<Session | undefined>> => {
  let answer: Response;
  try {
    answer = await fetch(path, { ...init, credentials: "same-origin" });
  } catch (cause) {
    return {
      ok: false,
      error: { code: "UNREACHABLE", message: "The server cannot be reached.", cause },
    };
  }
  if (answer.status === 204) return { ok: true, value: undefined };
  const body: unknown = await answer.json().catch(() => undefined);
  if (typeof body !== "object" || body === null) return { ok: false, error: unexpected };
  if (answer.ok) return { ok: true, value: body as Session };
  const { error, message } = body as { error?: ManagementError["code"]; message?: string };
  if (error === undefined || message === undefined) return { ok: false, error: unexpected };
  return { ok: false, error: { code: error, message, status: answer.status } };
};

/** Undefined when nobody is signed in. */
export const readSession = async (): Promise<Session | undefined> => {
  const result = await sessionCall("/session", {});
  if (!result.ok && result.error.code === "UNAUTHORIZED") return undefined;
  return valueOrThrow(result);
};

export const signIn = (key: string): Promise<Result<Session | undefined>> =>
  sessionCall("/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key }),
  });

/** Leaves one environment, or all of them. */
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
