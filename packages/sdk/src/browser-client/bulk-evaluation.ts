// Fetches the values of one context, with conditional requests and one at a time.
import type { Server } from "../transport/address.ts";
import { type ClientError, errorOfResponse, unreachable } from "../transport/client-error.ts";
import { exchange } from "../transport/exchange.ts";
import { type BulkResponse, parseBulkResponse } from "./context-values.ts";

/** From the notification of a change; sent back, so that the response includes the change. */
export interface Announced {
  readonly etag?: string;
  readonly lastModified?: string | number;
}

export interface BulkEvaluation {
  /** Undefined on success. */
  fetch(announced?: Announced): Promise<ClientError | undefined>;
  /** Makes the next request unconditional. */
  forget(): void;
}

export interface BulkRequest {
  readonly server: Server;
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly context: () => object;
  readonly onResponse: (response: BulkResponse) => void;
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
  const { server, timeout, signal, context, onResponse } = request;
  const { base, authorization, fetch } = server;
  let tag: string | undefined;
  let running: Promise<ClientError | undefined> | undefined;
  let next: { announced: Announced; done: Promise<ClientError | undefined> } | undefined;

  const fetchFor = async (
    asked: object,
    announced: Announced,
  ): Promise<ClientError | undefined> => {
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
          body: JSON.stringify({ context: asked }),
        },
        timeout,
        signal,
        read: async (response) => {
          if (response.status === 304) return undefined;
          if (!response.ok) return errorOfResponse(response);
          const body: unknown = await response.json().catch(() => undefined);
          const parsed = parseBulkResponse(body, base);
          if (parsed === undefined) return notABulkResponse;
          if (context() !== asked) return undefined;
          tag = response.headers.get("etag") ?? undefined;
          onResponse(parsed);
          return undefined;
        },
      });
    } catch (cause) {
      return unreachable(cause);
    }
  };

  /** When the context changes during the request, its values do not apply, and those of the new one are asked for. */
  const fetchOnce = async (announced: Announced): Promise<ClientError | undefined> => {
    for (;;) {
      const asked = context();
      const error = await fetchFor(asked, announced);
      if (context() === asked) return error;
    }
  };

  const start = (announced: Announced) => {
    running = fetchOnce(announced).finally(() => {
      running = undefined;
    });
    return running;
  };

  return {
    fetch(announced) {
      if (running === undefined) return start(announced ?? {});
      // Calls during a request share one more request, made with the newest notification. A call without one keeps it.
      if (next !== undefined) {
        next.announced = announced ?? next.announced;
        return next.done;
      }
      const waiting = running.then(() => {
        const newest = next?.announced ?? {};
        next = undefined;
        return start(newest);
      });
      next = { announced: announced ?? {}, done: waiting };
      return waiting;
    },
    forget() {
      tag = undefined;
    },
  };
};
