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
    /** The runtime ends what a client needs to follow changes, such as timers. */
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
  readonly cause?: unknown;
}

const messageIn = (text: string): string | undefined => {
  try {
    const { message, errorDetails } = JSON.parse(text) as Record<string, unknown>;
    if (typeof message === "string") return message;
    return typeof errorDetails === "string" ? errorDetails : undefined;
  } catch {
    return undefined;
  }
};

/** A redirect is not followed: the key would not go along. Browsers do not say where it leads. */
export const redirectOf = (response: Response): string | undefined => {
  const isRedirect = response.type === "opaqueredirect" || /^30[12378]$/.test(`${response.status}`);
  if (!isRedirect) return undefined;
  const target = response.headers.get("location");
  return `the server redirects${target === null ? "" : ` to ${target}`}: use the address of the server itself`;
};

/** Whether the same request may succeed later. */
export const isTemporary = (status: number): boolean =>
  status === 408 || status === 429 || (status >= 500 && status !== 501);

/** The error of an unsuccessful response. Reads the body, so that the connection can be reused. */
export const errorOfResponse = async (response: Response): Promise<ClientError> => {
  const { status } = response;
  const text = await response.text().catch(() => "");
  const redirect = redirectOf(response);
  if (redirect !== undefined) return { code: "UNEXPECTED_ANSWER", message: redirect, status };
  const reason = messageIn(text);
  const message = `the server responded with ${status}${reason === undefined ? "" : `: ${reason}`}`;
  if (status === 401) return { code: "UNAUTHORIZED", message, status };
  if (status === 403) return { code: "FORBIDDEN", message, status };
  return {
    code: isTemporary(status) ? "UNREACHABLE" : "UNEXPECTED_ANSWER",
    message,
    status,
  };
};

export const unreachable = (cause: unknown): ClientError => {
  const inner = (cause as { cause?: { message?: unknown } } | undefined)?.cause?.message;
  const outer = cause instanceof Error ? cause.message : String(cause);
  const message = `the server cannot be reached: ${typeof inner === "string" ? inner : outer}`;
  return { code: "UNREACHABLE", message, cause };
};

export const isRefusal = ({ code }: ClientError): boolean =>
  code === "UNAUTHORIZED" || code === "FORBIDDEN";

/** The Retry-After header, in seconds or as a date, in milliseconds from now. */
export const retryAfterOf = (response: Response): number | undefined => {
  const header = response.headers.get("retry-after");
  if (header === null) return undefined;
  const wait = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
};
