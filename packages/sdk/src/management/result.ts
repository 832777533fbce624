// The outcome of a management call: a value, or an error that is one too.
import { type Flag, isFlag } from "@halyard/core/flags/registry";
import { retryAfterOf } from "../transport/client-error.ts";

export type ManagementErrorCode =
  | "VALIDATION_FAILED"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "CONFLICT"
  | "PRECONDITION_FAILED"
  | "PAYLOAD_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "RATE_LIMITED"
  | "INTERNAL"
  | "UNAVAILABLE"
  /** No answer: what was asked may have been carried out or not. */
  | "UNREACHABLE"
  /** Given up by the caller's own signal: it may have been carried out or not. */
  | "ABORTED"
  /** An answer that is not one of Halyard's, such as a proxy's. */
  | "UNEXPECTED_ANSWER";

export interface ManagementError {
  readonly code: ManagementErrorCode;
  readonly message: string;
  readonly details?: readonly { readonly field: string; readonly message: string }[];
  /** The flag as it is now, on PRECONDITION_FAILED. */
  readonly current?: Flag;
  /** Of `current`. */
  readonly currentVersion?: number;
  /** Of the answer; absent when there was none. */
  readonly status?: number;
  /** In milliseconds, when the server said so. */
  readonly retryAfter?: number;
  readonly cause?: unknown;
}

export interface Success<T> {
  readonly ok: true;
  readonly value: T;
  /** Of a flag: what `ifMatch` takes. Of the list of flags: the environment's revision. */
  readonly version?: number;
  /** The cursor of the next page, when there is one. */
  readonly next?: string;
}

export interface Failure {
  readonly ok: false;
  readonly error: ManagementError;
}

export type Result<T> = Success<T> | Failure;

const versionOf = (answer: Response): number | undefined => {
  const match = /^(?:W\/)?"(\d+)"$/.exec(answer.headers.get("etag") ?? "");
  return match === null ? undefined : Number(match[1]);
};

const nextOf = (answer: Response): string | undefined => {
  const link = /<([^>]*)>\s*;\s*rel="?next"?/.exec(answer.headers.get("link") ?? "")?.[1];
  if (link === undefined) return undefined;
  return new URL(link, "http://relative").searchParams.get("cursor") ?? undefined;
};

const unexpected = ({ status }: Response): Failure => ({
  ok: false,
  error: {
    code: "UNEXPECTED_ANSWER",
    message: `the answer ${status} is not one of Halyard's`,
    status,
  },
});

type ErrorFields = Partial<{
  error: ManagementErrorCode;
  message: string;
  details: { field: string; message: string }[];
  current: unknown;
}>;

export const resultOf = async <T>(answer: Response): Promise<Result<T>> => {
  const text = await answer.text();
  let body: unknown;
  try {
    body = text === "" ? undefined : JSON.parse(text);
  } catch {
    return unexpected(answer);
  }
  const version = versionOf(answer);
  if (answer.ok) {
    const next = nextOf(answer);
    return {
      ok: true,
      value: body as T,
      ...(version !== undefined && { version }),
      ...(next !== undefined && { next }),
    };
  }
  const { error, message, details, current } = (body ?? {}) as ErrorFields;
  if (typeof error !== "string" || typeof message !== "string") return unexpected(answer);
  const retryAfter = retryAfterOf(answer);
  return {
    ok: false,
    error: {
      code: error,
      message,
      status: answer.status,
      ...(Array.isArray(details) && { details }),
      ...(isFlag(current) && { current }),
      ...(isFlag(current) && version !== undefined && { currentVersion: version }),
      ...(retryAfter !== undefined && { retryAfter }),
    },
  };
};
