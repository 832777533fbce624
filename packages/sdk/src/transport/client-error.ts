// The errors of a connection to the server, as values.

export interface ClientError {
  readonly code: /** No connection, no response in time, or a temporary error such as 503. */
    | "UNREACHABLE"
    /** The key is not valid. */
    | "UNAUTHORIZED"
    /** The role of the key does not allow it. */
    | "FORBIDDEN"
    /** A response that this version cannot use. */
    | "UNEXPECTED_ANSWER"
    /** The runtime stops the timers and connections that a client needs to follow changes. */
    | "UNSUPPORTED_RUNTIME"
    /** The application's cache could not load or save. */
    | "CACHE_FAILED"
    /** A listener of the application threw or rejected; the error is the `cause`. Only logged. */
    | "LISTENER_FAILED"
    /** The program evaluates a key that no flag has, or expects another type than the flag's. Only logged. */
    | "FLAG_NOT_FOUND"
    | "TYPE_MISMATCH"
    /** The page is hidden, so the connection is closed until it is visible. */
    | "PAUSED"
    /** The application has closed the client. */
    | "CLOSED";
  readonly message: string;
  /** The HTTP status; absent without a response. */
  readonly status?: number;
  /** From the server's Retry-After, in milliseconds. */
  readonly retryAfter?: number;
  readonly cause?: unknown;
}

/** A redirect is not followed, because the key would not go along. Browsers hide its status and its target. */
export const redirectOf = ({ status, headers }: Response): string | undefined => {
  if (!/^(0|30[12378])$/.test(`${status}`)) return undefined;
  const target = headers.get("location");
  return `the server redirects${target ? ` to ${target}` : ""}: use the address of the server itself`;
};

/** Whether the same request may succeed later. */
export const isTemporary = (status: number): boolean =>
  status === 408 || status === 429 || (status >= 500 && status !== 501);

const codeOf = (status: number): ClientError["code"] => {
  if (status === 401) return "UNAUTHORIZED";
  if (status === 403) return "FORBIDDEN";
  return isTemporary(status) ? "UNREACHABLE" : "UNEXPECTED_ANSWER";
};

/** The error of an unsuccessful response. Reads the body, so that the connection can be reused. */
export const errorOfResponse = async (response: Response): Promise<ClientError> => {
  const { status } = response;
  const body = (await response.json().catch(() => undefined)) as Record<string, unknown> | null;
  const reason = body?.message ?? body?.errorDetails;
  const retryAfter = retryAfterOf(response);
  return {
    code: codeOf(status),
    message:
      redirectOf(response) ??
      `the server responded with ${status}${typeof reason === "string" ? `: ${reason}` : ""}`,
    status,
    ...(retryAfter && { retryAfter }),
  };
};

/** The error of a successful response that is not what was requested. */
export const unexpectedResponse = (requested: string, status: number): ClientError => ({
  code: "UNEXPECTED_ANSWER",
  message: `the server's response is not ${requested}`,
  status,
});

export const unreachable = (cause: unknown): ClientError => {
  const { message, cause: inner } = Object(cause) as Error;
  // The message of fetch itself says only that it failed.
  const reason = (inner as Partial<Error> | undefined)?.message || message || cause;
  return { code: "UNREACHABLE", message: `the server cannot be reached: ${String(reason)}`, cause };
};

/** Whether the client can't get values before something else changes, such as the key. */
export const isRefusal = ({ code }: ClientError): boolean =>
  ["UNAUTHORIZED", "FORBIDDEN", "UNSUPPORTED_RUNTIME"].includes(code);

/** The Retry-After header in milliseconds. Halyard sends seconds; a date is ignored. */
export const retryAfterOf = ({ headers }: Response): number | undefined =>
  1_000 * Number(headers.get("retry-after")) || undefined;
