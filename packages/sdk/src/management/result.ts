// The result of a management call: a value or an error. Calls never throw.
import { type Flag, isFlag } from "@halyard/core/flags/registry";
import { redirectOf, retryAfterOf } from "../transport/client-error.ts";
import type { ChangePreview, ChangeRequest } from "./changes/change-requests.ts";

export type ManagementErrorCode =
  | "VALIDATION_FAILED"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  /** For people who are signed in: this needs a recent sign-in. */
  | "SIGN_IN_AGAIN"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "CONFLICT"
  /** The environment is protected: nothing was changed, and `proposed` is what another person must approve. */
  | "APPROVAL_NEEDED"
  /** The change exceeds the impact limit: nothing was changed, and `preview` shows the affected users. */
  | "TOO_MANY_FLIPS"
  | "PRECONDITION_FAILED"
  | "PAYLOAD_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "RATE_LIMITED"
  | "INTERNAL"
  | "UNAVAILABLE"
  /** No response: the server may have executed the call or not. */
  | "UNREACHABLE"
  /** Aborted by the caller's signal: the server may have executed the call or not. */
  | "ABORTED"
  /** Not a response of Halyard's, such as a proxy's. */
  | "UNEXPECTED_ANSWER";

export interface ManagementError {
  readonly code: ManagementErrorCode;
  readonly message: string;
  readonly details?: readonly { readonly field: string; readonly message: string }[];
  /** The current flag, on PRECONDITION_FAILED. */
  readonly current?: Flag;
  /** The version of `current`. */
  readonly currentVersion?: number;
  /** On APPROVAL_NEEDED: the change request in the place of the change. */
  readonly proposed?: ChangeRequest;
  /** On TOO_MANY_FLIPS. */
  readonly preview?: ChangePreview;
  /** The HTTP status; absent without a response. */
  readonly status?: number;
  /** From the server's Retry-After, in milliseconds. */
  readonly retryAfter?: number;
  readonly cause?: unknown;
}

export interface Success<T> {
  readonly ok: true;
  readonly value: T;
  /** For a flag, what `ifMatch` takes; for the list of flags, the revision of the environment. */
  readonly version?: number;
  /** The `cursor` of the next page, or `after` for events, when there is one. */
  readonly next?: string;
}

export interface Failure {
  readonly ok: false;
  readonly error: ManagementError;
}

export type Result<T> = Success<T> | Failure;

const versionOf = (response: Response): number | undefined => {
  const match = /^(?:W\/)?"(\d+)"$/.exec(response.headers.get("etag") ?? "");
  return match === null ? undefined : Number(match[1]);
};

const nextOf = (response: Response): string | undefined => {
  const link = /<([^>]*)>\s*;\s*rel="?next"?/.exec(response.headers.get("link") ?? "")?.[1];
  if (link === undefined) return undefined;
  const query = new URL(link, "http://relative").searchParams;
  return query.get("cursor") ?? query.get("after") ?? undefined;
};

const unexpected = (response: Response): Failure => {
  const { status } = response;
  const message =
    redirectOf(response) ?? `the response with status ${status} does not come from Halyard`;
  return { ok: false, error: { code: "UNEXPECTED_ANSWER", message, status } };
};

/** A success with nothing changed: it must not be mistaken for the changed flag. */
const proposedIn = (response: Response, body: unknown): ManagementError | undefined => {
  const { status, headers } = response;
  const location = headers.get("location") ?? "";
  if (status !== 202 || !location.includes("/change-requests/")) return undefined;
  const proposed = body as ChangeRequest;
  return {
    code: "APPROVAL_NEEDED",
    message: `the environment "${proposed.environment}" is protected: the change was proposed as ${proposed.id}, and is made when another person approves it`,
    proposed,
    status,
  };
};

type ErrorFields = Partial<{
  error: ManagementErrorCode;
  message: string;
  details: { field: string; message: string }[];
  current: unknown;
  preview: ChangePreview;
}>;

const isLines = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("application/x-ndjson") === true;

export const resultOf = async <T>(response: Response): Promise<Result<T>> => {
  const text = await response.text();
  let body: unknown;
  try {
    body = text === "" ? undefined : isLines(response) ? text : JSON.parse(text);
  } catch {
    return unexpected(response);
  }
  const version = versionOf(response);
  const proposed = proposedIn(response, body);
  if (proposed) return { ok: false, error: proposed };
  if (response.ok) {
    const next = nextOf(response);
    return {
      ok: true,
      value: body as T,
      ...(version !== undefined && { version }),
      ...(next !== undefined && { next }),
    };
  }
  const { error, message, details, current, preview } = (body ?? {}) as ErrorFields;
  if (typeof error !== "string" || typeof message !== "string") return unexpected(response);
  const retryAfter = retryAfterOf(response);
  return {
    ok: false,
    error: {
      code: error,
      message,
      status: response.status,
      ...(Array.isArray(details) && { details }),
      ...(isFlag(current) && { current }),
      ...(isFlag(current) && version !== undefined && { currentVersion: version }),
      ...(preview !== undefined && { preview }),
      ...(retryAfter !== undefined && { retryAfter }),
    },
  };
};
