// What can go wrong between a client and the server, as a value.

export interface ClientError {
  readonly code: /** No connection, no answer in time, or an answer that says to come back later. */
    | "UNREACHABLE"
    /** The key is not valid. */
    | "UNAUTHORIZED"
    /** The role of the key is too low. */
    | "FORBIDDEN"
    /** An answer that this version cannot use. */
    | "UNEXPECTED_ANSWER"
    /** The cache that was handed in could not load or save. */
    | "CACHE_FAILED";
  readonly message: string;
  /** Of the answer, when there was one. */
  readonly status?: number;
  readonly cause?: unknown;
}

const said = (text: string): string | undefined => {
  try {
    const { message, errorDetails } = JSON.parse(text) as Record<string, unknown>;
    if (typeof message === "string") return message;
    return typeof errorDetails === "string" ? errorDetails : undefined;
  } catch {
    return undefined;
  }
};

/** What an answer that is no success means; it is read to its end, so that the connection can be used again. */
export const errorOfAnswer = async (answer: Response): Promise<ClientError> => {
  const { status } = answer;
  const text = await answer.text().catch(() => "");
  const message = `the server answered ${status}${said(text) === undefined ? "" : `: ${said(text)}`}`;
  if (status === 401) return { code: "UNAUTHORIZED", message, status };
  if (status === 403) return { code: "FORBIDDEN", message, status };
  const startTimer = status === 408 || status === 429 || status >= 500;
  return {
    code: startTimer && status !== 501 ? "UNREACHABLE" : "UNEXPECTED_ANSWER",
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

/** How many milliseconds an answer asks to wait: in seconds or as a date. */
export const retryAfterOf = (answer: Response): number | undefined => {
  const header = answer.headers.get("retry-after");
  if (header === null) return undefined;
  const wait = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
};
