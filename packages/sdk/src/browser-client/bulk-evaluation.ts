// Asks the server for the values of one context, one request at a time, and only for what is new.
import type { Server } from "../transport/address.ts";
import { type ClientError, errorOfAnswer, unreachable } from "../transport/client-error.ts";
import { exchange } from "../transport/exchange.ts";
import { type BulkAnswer, parseBulkAnswer } from "./context-values.ts";

/** What a notification told about the change: handed on, so that the server does not answer from before it. */
export interface Announced {
  readonly etag?: string;
  readonly lastModified?: string | number;
}

export interface BulkEvaluation {
  /** Undefined when the values are there; otherwise why not. */
  fetch(announced?: Announced): Promise<ClientError | undefined>;
  /** The next answer is given whole, whatever was known before. */
  forget(): void;
}

export interface BulkRequest {
  readonly server: Server;
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly context: () => object;
  readonly onAnswer: (answer: BulkAnswer) => void;
}

const notAnAnswer: ClientError = {
  code: "UNEXPECTED_ANSWER",
  message: "the server's answer is not a bulk evaluation",
};

const queryOf = ({ etag, lastModified }: Announced): string => {
  const query = new URLSearchParams();
  if (etag !== undefined) query.set("flagConfigEtag", etag);
  if (lastModified !== undefined) query.set("flagConfigLastModified", String(lastModified));
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
};

export const createBulkEvaluation = (request: BulkRequest): BulkEvaluation => {
  const { server, timeout, signal, context, onAnswer } = request;
  const { base, authorization, fetch } = server;
  let tag: string | undefined;
  let running: Promise<ClientError | undefined> | undefined;
  let next: { announced: Announced; done: Promise<ClientError | undefined> } | undefined;

  const fetchOnce = async (announced: Announced): Promise<ClientError | undefined> => {
    const asked = context();
    const current = () => context() === asked;
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
        read: async (answer) => {
          if (answer.status === 304) return undefined;
          if (!answer.ok) return errorOfAnswer(answer);
          const body: unknown = await answer.json().catch(() => undefined);
          const parsed = parseBulkAnswer(body, base);
          if (parsed === undefined) return notAnAnswer;
          // An answer for a context that is no longer the current one is for nobody.
          if (!current()) return undefined;
          tag = answer.headers.get("etag") ?? undefined;
          onAnswer(parsed);
          return undefined;
        },
      });
    } catch (cause) {
      return unreachable(cause);
    }
  };

  const start = (announced: Announced) => {
    running = fetchOnce(announced).finally(() => {
      running = undefined;
    });
    return running;
  };

  return {
    fetch(announced = {}) {
      if (running === undefined) return start(announced);
      // Any number of wishes that come meanwhile are one more request, made with the newest of them.
      if (next !== undefined) {
        next.announced = announced;
        return next.done;
      }
      const waiting = running.then(() => {
        const newest = next?.announced ?? {};
        next = undefined;
        return start(newest);
      });
      next = { announced, done: waiting };
      return waiting;
    },
    forget() {
      tag = undefined;
    },
  };
};
