// Fetches the values of one context, with conditional requests and one at a time.
import type { EvaluationContext } from "@halyard/core/context";
import type { Server } from "../transport/address.ts";
import { type ClientError, errorOfResponse, unreachable } from "../transport/client-error.ts";
import { exchange } from "../transport/exchange.ts";
import { type BulkResponse, parseBulkResponse } from "./context-values.ts";

/** From the notification of a change; sent back, so that the response includes the change. */
export interface Announced {
  readonly etag?: string;
  readonly lastModified?: string | number;
}

/** The error of a request; undefined on success. */
type Outcome = Promise<ClientError | undefined>;

interface NextRequest {
  announced: Announced;
  readonly done: Outcome;
}

export interface BulkEvaluation {
  /** A request that begins after this call. */
  fetch(announced?: Announced): Outcome;
  /** The request that is running; without one, a new request. */
  join(): Outcome;
  /** Ends a running request, whose callers then wait for the new context. */
  setContext(context: EvaluationContext): Outcome;
  /** Makes the next request unconditional. */
  forget(): void;
  /** Whether the last request succeeded, and none is running. */
  isCurrent(): boolean;
}

export interface BulkRequest {
  readonly server: Server;
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly context: EvaluationContext;
  readonly onResponse: (response: BulkResponse) => void;
  /** Called once for each request, unless another context has superseded it. */
  readonly onSettled: (error: ClientError | undefined) => void;
}

const notABulkResponse: ClientError = {
  code: "UNEXPECTED_ANSWER",
  message: "the server's response is not a bulk evaluation",
};

const queryOf = ({ etag, lastModified }: Announced): string => {
  const query = new URLSearchParams();
  if (etag !== undefined) query.set("flagConfigEtag", etag);
  if (lastModified !== undefined) query.set("flagConfigLastModified", String(lastModified));
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
};

export const createBulkEvaluation = (request: BulkRequest): BulkEvaluation => {
  const { server, timeout, onResponse, onSettled } = request;
  const { base, authorization, fetch } = server;
  let { context } = request;
  let tag: string | undefined;
  let isCurrent = false;
  /** Aborts when another context replaces this one, or the client closes. */
  let superseded = new AbortController();
  request.signal.addEventListener("abort", () => superseded.abort());
  let running: Outcome | undefined;
  let next: NextRequest | undefined;

  const fetchOnce = async (announced: Announced, signal: AbortSignal): Outcome => {
    try {
      return await exchange({
        fetch,
        url: `${base}/ofrep/v1/evaluate/flags${queryOf(announced)}`,
        init: {
          method: "POST",
          headers: {
            ...authorization,
            "content-type": "application/json",
            ...(tag !== undefined && { "if-none-match": tag }),
          },
          body: JSON.stringify({ context }),
        },
        timeout,
        signal,
        read: async (response) => {
          if (response.status === 304) return undefined;
          if (!response.ok) return errorOfResponse(response);
          const body: unknown = await response.json().catch(() => undefined);
          const parsed = parseBulkResponse(body, base);
          if (parsed === undefined) return notABulkResponse;
          if (signal.aborted) return undefined;
          tag = response.headers.get("etag") ?? undefined;
          onResponse(parsed);
          return undefined;
        },
      });
    } catch (cause) {
      return unreachable(cause);
    }
  };

  const run = async (first: Announced): Outcome => {
    let announced = first;
    for (;;) {
      const own = superseded;
      const error = await fetchOnce(announced, own.signal);
      if (own === superseded) {
        running = undefined;
        isCurrent = error === undefined;
        onSettled(error);
        return error;
      }
      // The request for the new context includes what was announced meanwhile.
      announced = next?.announced ?? announced;
      next = undefined;
    }
  };

  const start = (announced: Announced): Outcome => {
    isCurrent = false;
    running = run(announced);
    return running;
  };

  const fetchAfter = (announced?: Announced): Outcome => {
    if (running === undefined) return start(announced ?? {});
    // Calls during a request share one more request, made with the newest notification. A call without one keeps it.
    if (next !== undefined) {
      next.announced = announced ?? next.announced;
      return next.done;
    }
    const own: NextRequest = {
      announced: announced ?? {},
      done: running.then((error) => {
        if (next !== own) return error;
        next = undefined;
        return fetchAfter(own.announced);
      }),
    };
    next = own;
    return own.done;
  };

  return {
    fetch: fetchAfter,
    join: () => running ?? start({}),
    setContext(replacement) {
      context = replacement;
      tag = undefined;
      isCurrent = false;
      superseded.abort();
      superseded = new AbortController();
      return running ?? start({});
    },
    forget() {
      tag = undefined;
    },
    isCurrent: () => isCurrent,
  };
};
