// The server's API for the dashboard: typed calls with the session, and errors that queries can throw.
import {
  createManagement,
  type Management,
  type ManagementError,
  type ManagementOptions,
  type Result,
} from "@halyard/sdk/management";
import type { Together } from "./flips/confirm-flips.tsx";
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
  /** The issuers of the providers that they sign in with. */
  readonly providers: readonly string[];
}

export interface Session {
  readonly csrf: string;
  readonly endsAt: string;
  /** Of a person it may be none. */
  readonly environments: readonly SessionEnvironment[];
  /** Null for those who have signed in with keys. */
  readonly user: SessionUser | null;
  /** Such as "password" or "oidc:acme". */
  readonly method: string;
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

/** What changes flags or segments when it succeeds; the answer of a change request says whether that was applied. */
const changesFlags =
  /\/v1\/((flags|segments|changes)(\/[^/?]+(\/members)?)?|.+\/(approve|apply|bypass))(\?|$)/;

const isRead = (method: string): boolean => method === "GET" || method === "HEAD";

export type SessionFetch = typeof globalThis.fetch;

/** What all requests with the session share. */
export interface SessionUse {
  /** What every change carries. */
  csrf: string;
  /** The server no longer accepts the session. */
  readonly onEnded: () => void;
  /** A change was not made but proposed. */
  readonly onProposed: () => void;
  /** A change was made in this environment. */
  onChanged: (environment: string, response: Response) => void;
  /** Asks the person to prove once more who they are; false when they do not. */
  signInAgain: () => Promise<boolean>;
  /** The body of a refusal by the limit on flips: how many percent of people the person lets it change; undefined when they do not want it. */
  confirmFlips: (refusal: string, together?: Together) => Promise<number | undefined>;
}

/** Whether a change that was refused with this body may be sent once more: somebody has signed in again, here or in another tab. */
const isRenewed = async (refusal: string, use: SessionUse, sent: string): Promise<boolean> => {
  if (refusal.includes("SIGN_IN_AGAIN")) return use.signInAgain();
  const session = await readSession().catch(() => undefined);
  if (session === undefined || session.csrf === sent) return false;
  use.csrf = session.csrf;
  return true;
};

/** A refused change is sent again with what the person confirms, until it is accepted or not wanted. */
const withFlips = async (
  response: Response,
  confirm: (refusal: string) => Promise<number | undefined>,
  send: (flips: number) => Promise<Response>,
): Promise<Response> => {
  if (response.status !== 409) return response;
  const text = await response.text();
  const flips = text.includes("TOO_MANY_FLIPS") ? await confirm(text) : undefined;
  return flips === undefined
    ? new Response(text, response)
    : withFlips(await send(flips), confirm, send);
};

/** A fetch that carries the session instead of a key. Without an environment it is for what concerns the person alone. */
export const createSessionFetch =
  (environment: string | undefined, use: SessionUse, together?: Together): SessionFetch =>
  async (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.delete("authorization");
    if (environment !== undefined) headers.set("x-halyard-environment", environment);
    if (!isUserActive()) headers.set("x-halyard-background", "1");
    const send = (signal = init.signal, to = input) =>
      globalThis.fetch(to, {
        ...init,
        headers,
        credentials: "same-origin",
        ...(signal && { signal }),
      });
    if (isRead(init.method ?? "GET")) {
      const first =
        typeof input === "string" && environment !== undefined
          ? await takeFirst(environment, input)
          : undefined;
      const response = first ?? (await send());
      if (response.status === 401) use.onEnded();
      return response;
    }
    const sent = use.csrf;
    headers.set("x-halyard-csrf", sent);
    let response = await send();
    if (response.status === 403) {
      // Read at once: the time for the first attempt may pass while the person is asked.
      const refusal = await response.text();
      const isAgain = await isRenewed(refusal, use, sent);
      headers.set("x-halyard-csrf", use.csrf);
      response = isAgain
        ? await send(AbortSignal.timeout(longestWait))
        : new Response(refusal, response);
    }
    response = await withFlips(
      response,
      (refusal) => use.confirmFlips(refusal, together),
      (flips) => {
        const url = new URL(input instanceof Request ? input.url : input, location.origin);
        url.searchParams.set("confirmFlips", String(flips));
        return send(AbortSignal.timeout(longestWait), url);
      },
    );
    if (response.status === 401) use.onEnded();
    if (response.status === 202) use.onProposed();
    else if (response.ok && environment !== undefined && changesFlags.test(response.url)) {
      use.onChanged(environment, response.clone());
    }
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

/** A call of what concerns the session itself, by this page alone. */
export const sessionCall = async <T>(
  path: string,
  init: RequestInit = {},
  send: SessionFetch = globalThis.fetch,
  first?: Response,
): Promise<Result<T>> => {
  let response: Response;
  try {
    const signal = AbortSignal.timeout(longestWait);
    response = first ?? (await send(path, { ...init, credentials: "same-origin", signal }));
  } catch (cause) {
    return {
      ok: false,
      error: { code: "UNREACHABLE", message: "The server cannot be reached.", cause },
    };
  }
  if (response.status === 204) return { ok: true, value: undefined as T };
  const body: unknown = await response.json().catch(() => undefined);
  if (typeof body !== "object" || body === null) return { ok: false, error: unexpected };
  if (response.ok) return { ok: true, value: body as T };
  const { error, message, details } = body as {
    error?: ManagementError["code"];
    message?: string;
    details?: ManagementError["details"];
  };
  if (error === undefined || message === undefined) return { ok: false, error: unexpected };
  return {
    ok: false,
    error: { code: error, message, status: response.status, ...(details && { details }) },
  };
};

export const withJson = (method: "POST" | "PUT", body: unknown): RequestInit => ({
  method,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

/** Undefined when nobody is signed in. */
export const readSession = async (): Promise<Session | undefined> => {
  const first = await takeFirstSession();
  const result = await sessionCall<Session>("/session", {}, globalThis.fetch, first);
  if (!result.ok && result.error.code === "UNAUTHORIZED") return undefined;
  return valueOrThrow(result);
};

export const signIn = (key: string): Promise<Result<Session>> =>
  sessionCall("/session", withJson("POST", { key }));

/** Where the provider that somebody has signed in with signs them out too. */
interface SignedOut {
  readonly signOutUrl?: string;
}

/** Signs out of one environment, or of all. */
export const signOut = (
  csrf: string,
  environment?: string,
): Promise<Result<SignedOut | undefined>> => {
  const path = environment === undefined ? "" : `/${encodeURIComponent(environment)}`;
  return sessionCall(`/session${path}`, {
    method: "DELETE",
    headers: { "x-halyard-csrf": csrf },
  });
};
