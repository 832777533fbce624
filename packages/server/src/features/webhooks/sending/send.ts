// One delivery attempt: a checked address, no redirects, limits on time and size.
import type { Agent, Dispatcher } from "undici";
import type { LookUp, Send } from "../../../platform/database/store.ts";
import type { CallbackPolicy } from "../callback-address.ts";
import type { BrokenCause, Outcome } from "../deliveries/rules.ts";
import { connectTimeout, createGuardedConnect, RefusedAddress } from "./guarded-connect.ts";

/** Milliseconds for the whole exchange. */
const totalTimeout = 15_000;
const maxRead = 64 * 1_024;
const maxKept = 1_024;
const maxHeaders = 16 * 1_024;
/** Addresses that are read once. */
const maxTargets = 1_000;

class TooSlow extends Error {
  override readonly name = "TooSlow";
  constructor(timeout: number) {
    super(`no complete answer within ${timeout / 1_000} s`);
  }
}
class TooLong extends Error {
  override readonly name = "TooLong";
}
class ShuttingDown extends Error {
  override readonly name = "ShuttingDown";
}

export interface SenderDependencies {
  readonly callbacks: CallbackPolicy;
  readonly userAgent: string;
  /** Fails when it takes longer than a connection may. */
  readonly lookUp: LookUp;
  /** For an attempt, and for its connection. */
  readonly timeout?: number | undefined;
}

export interface Sender {
  readonly send: Send;
  /** Aborts every running attempt. */
  abort(): void;
  close(): Promise<void>;
}

const openAgent = async ({ callbacks, lookUp, timeout }: SenderDependencies): Promise<Agent> => {
  // Loaded with the first attempt: a server without webhooks does not need it.
  const { Agent, buildConnector } = await import("undici");
  return new Agent({
    connect: createGuardedConnect(buildConnector, callbacks, lookUp, timeout),
    pipelining: 1,
    keepAliveTimeout: 10_000,
    keepAliveMaxTimeout: 60_000,
    maxHeaderSize: maxHeaders,
    // The exchange has one time limit, below; these would restart with every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
};

export const createSender = (dependencies: SenderDependencies): Sender => {
  let opening: Promise<Agent> | undefined;
  let agent: Agent | undefined;
  const open = async (): Promise<Agent> => {
    opening ??= openAgent(dependencies);
    agent = await opening;
    return agent;
  };

  const targets = new Map<string, { readonly origin: string; readonly path: string }>();
  const targetOf = (url: string) => {
    const known = targets.get(url);
    if (known) return known;
    const { origin, pathname, search } = new URL(url);
    if (targets.size >= maxTargets) targets.clear();
    const target = { origin, path: pathname + search };
    targets.set(url, target);
    return target;
  };

  const running = new Set<Exchange>();
  const dispatch = (by: Agent, exchange: Exchange, ...[url, headers, body]: Parameters<Send>) => {
    try {
      const { origin, path } = targetOf(url);
      by.dispatch(
        {
          origin,
          path,
          method: "POST",
          headers: {
            ...headers,
            "user-agent": dependencies.userAgent,
            "accept-encoding": "identity",
          },
          body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
        },
        exchange,
      );
    } catch (error) {
      exchange.onResponseError(undefined, error as Error);
    }
  };

  return {
    send: (...request) =>
      new Promise((resolve) => {
        const exchange = new Exchange((outcome) => {
          running.delete(exchange);
          resolve(outcome);
        }, dependencies.timeout ?? totalTimeout);
        running.add(exchange);
        if (agent) {
          dispatch(agent, exchange, ...request);
          return;
        }
        open().then(
          (opened) => dispatch(opened, exchange, ...request),
          (error: Error) => exchange.onResponseError(undefined, error),
        );
      }),
    abort() {
      for (const exchange of running)
        exchange.stop(new ShuttingDown("the server is shutting down"));
    },
    async close() {
      // The attempts report an agent that could not be opened.
      const opened = await opening?.catch(() => undefined);
      await opened?.destroy();
    },
  };
};

/** Follows one exchange from its start to its outcome. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #started = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #finish: (outcome: Outcome) => void;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #read = 0;
  #status: number | undefined;
  #retryAfter: string | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #stopped: Error | undefined;

  constructor(finish: (outcome: Outcome) => void, timeout: number) {
    this.#finish = finish;
    this.#timer = setTimeout(() => this.stop(new TooSlow(timeout)), timeout);
  }

  stop(reason: Error): void {
    this.#stopped ??= reason;
    if (this.#controller) this.#controller.abort(reason);
    // Without a connection there is nothing to abort, but the attempt still ends.
    else this.onResponseError(undefined, reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#stopped) controller.abort(this.#stopped);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    const asked = headers["retry-after"];
    this.#retryAfter = Array.isArray(asked) ? asked[0] : asked;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#read += chunk.length;
    if (this.#keptBytes < maxKept) {
      const part = chunk.subarray(0, maxKept - this.#keptBytes);
      this.#kept.push(Buffer.from(part));
      this.#keptBytes += part.length;
    }
    if (this.#read > maxRead) this.stop(new TooLong());
  }

  onResponseEnd(): void {
    this.#finish({
      kind: "answered",
      status: this.#status ?? 0,
      retryAfter: this.#retryAfter,
      ...this.#end(),
    });
  }

  onResponseError(_controller: unknown, error: Error): void {
    const why = this.#stopped ?? error;
    const reason = reasonOf(why, this.#status);
    const cause = causeOf(why);
    this.#finish({ kind: "broken", reason, cause, status: this.#status, ...this.#end() });
  }

  #end(): { milliseconds: number; response: string } {
    clearTimeout(this.#timer);
    return {
      milliseconds: performance.now() - this.#started,
      response: Buffer.concat(this.#kept).toString("utf8").replaceAll("\u0000", "\ufffd"),
    };
  }
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was closed",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  ENOTFOUND: "the name does not resolve",
  EAI_AGAIN: "the name could not be resolved",
  ETIMEDOUT: `no connection within ${connectTimeout / 1_000} s`,
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${connectTimeout / 1_000} s`,
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the answer is not as long as it said",
  UND_ERR_HEADERS_OVERFLOW: "the answer's headers are larger than 16 KiB",
};

const isTls = (code: string): boolean =>
  /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_|DEPTH_|SELF_SIGNED|EPROTO|ERR_OSSL)/.test(code);

/** A short name of what went wrong, for the metrics. */
const causeOf = (error: Error & { code?: unknown }): BrokenCause => {
  if (error instanceof RefusedAddress) return "address_refused";
  if (error instanceof TooSlow) return "timeout";
  if (error instanceof ShuttingDown) return "shutdown";
  const code = typeof error.code === "string" ? error.code : "";
  if (code === "ETIMEDOUT" || code === "UND_ERR_CONNECT_TIMEOUT") return "timeout";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "name";
  if (isTls(code)) return "tls";
  const isBad = error instanceof TooLong || error.name === "HTTPParserError";
  return isBad || /CONTENT_LENGTH|HEADERS_OVERFLOW/.test(code) ? "bad_answer" : "connection";
};

/** What went wrong, for the delivery log. */
const reasonOf = (
  error: Error & { code?: unknown; reason?: unknown },
  status: number | undefined,
): string => {
  if (error instanceof RefusedAddress) return `refused: ${error.message}`;
  const after = status === undefined ? "" : ` (it began with status ${status})`;
  if (error instanceof TooSlow) return error.message + after;
  if (error instanceof TooLong) return `the answer is longer than ${maxRead / 1_024} KiB${after}`;
  const code = typeof error.code === "string" ? error.code : "";
  const known = reasons[code];
  if (known !== undefined) return known + after;
  if (isTls(code)) {
    const detail = typeof error.reason === "string" ? error.reason : error.message;
    return `TLS: ${detail.split(/[\n;]/, 1)[0]} (${code})`;
  }
  if (error.name === "HTTPParserError") {
    return `the answer is not valid HTTP: ${/\((.*)\)$/.exec(error.message)?.[1] ?? code}${after}`;
  }
  // Its message names the address, which a name must not reveal.
  if ("syscall" in error) return `the connection failed (${code})`;
  return `${error.message}${code === "" ? "" : ` (${code})`}`;
};
