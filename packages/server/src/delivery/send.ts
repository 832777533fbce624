// One attempt: a guarded address, no redirect, limits on time and size. What comes back is data, never an instruction.
import { Agent, type Dispatcher } from "undici";
import type { CallbackPolicy } from "../domain/callback-address.ts";
import type { Outcome } from "../domain/delivery.ts";
import type { LookUp, Send } from "../ports.ts";
import { connectTimeout, createGuardedConnect, RefusedAddress } from "./guarded-connect.ts";

export const totalTimeout = 15_000;
const maxRead = 64 * 1_024;
const maxKept = 1_024;
const maxHeaders = 16 * 1_024;

class TooSlow extends Error {
  override readonly name = "TooSlow";
}
class TooLong extends Error {
  override readonly name = "TooLong";
}

export interface SenderNeeds {
  readonly callbacks: CallbackPolicy;
  readonly userAgent: string;
  /** Within the time for a connection. */
  readonly lookUp: LookUp;
}

export interface Sender {
  readonly send: Send;
  close(): Promise<void>;
}

export const createSender = (needs: SenderNeeds): Sender => {
  const agent = new Agent({
    connect: createGuardedConnect(needs.callbacks, needs.lookUp),
    pipelining: 1,
    keepAliveTimeout: 10_000,
    keepAliveMaxTimeout: 60_000,
    maxHeaderSize: maxHeaders,
    // The whole exchange has one limit, kept below; these would only restart with every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  return {
    send: (url, headers, body, signal) =>
      new Promise((resolve) => {
        attempt(agent, needs.userAgent, new URL(url), headers, body, signal, resolve);
      }),
    close: () => agent.destroy(),
  };
};

const attempt = (
  agent: Agent,
  userAgent: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  signal: AbortSignal,
  resolve: (outcome: Outcome) => void,
): void => {
  const started = performance.now();
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let read = 0;
  let status: number | undefined;
  let retryAfter: string | undefined;
  let controller: Dispatcher.DispatchController | undefined;
  let stopped: Error | undefined;

  const stop = (reason: Error): void => {
    stopped ??= reason;
    controller?.abort(reason);
    // Before a connection is made there is nothing to abort: the attempt ends here all the same.
    if (!controller) broken(reason);
  };
  const timer = setTimeout(() => stop(new TooSlow()), totalTimeout);
  const onAbort = () => stop(new Error("the server is shutting down"));
  signal.addEventListener("abort", onAbort, { once: true });

  const end = (): { milliseconds: number; response: string } => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    return {
      milliseconds: performance.now() - started,
      response: Buffer.concat(kept).toString("utf8").replaceAll("\u0000", "\ufffd"),
    };
  };
  const broken = (error: Error): void => {
    resolve({ kind: "broken", reason: reasonOf(stopped ?? error, status), status, ...end() });
  };

  agent.dispatch(
    {
      origin: url.origin,
      path: url.pathname + url.search,
      method: "POST",
      headers: { ...headers, "user-agent": userAgent, "accept-encoding": "identity" },
      body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
    },
    {
      onRequestStart(started_) {
        controller = started_;
        if (stopped) started_.abort(stopped);
      },
      onResponseStart(_controller, code, received) {
        if (code < 200) return;
        status = code;
        const asked = received["retry-after"];
        retryAfter = Array.isArray(asked) ? asked[0] : asked;
      },
      onResponseData(current, chunk) {
        read += chunk.length;
        if (keptBytes < maxKept) {
          const part = chunk.subarray(0, maxKept - keptBytes);
          kept.push(Buffer.from(part));
          keptBytes += part.length;
        }
        if (read <= maxRead) return;
        stopped ??= new TooLong();
        current.abort(stopped);
      },
      onResponseEnd() {
        resolve({ kind: "answered", status: status ?? 0, retryAfter, ...end() });
      },
      onResponseError(_controller, error) {
        broken(error);
      },
    },
  );
};

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
  UND_ERR_HEADERS_OVERFLOW: "the answer's headers are larger than 16 KiB",
};

/** What went wrong, for the delivery log. */
const reasonOf = (error: Error & { code?: unknown }, status: number | undefined): string => {
  if (error instanceof RefusedAddress) return `refused: ${error.message}`;
  const after = status === undefined ? "" : ` (it began with status ${status})`;
  if (error instanceof TooSlow)
    return `no complete answer within ${totalTimeout / 1_000} s${after}`;
  if (error instanceof TooLong) return `the answer is longer than ${maxRead / 1_024} KiB${after}`;
  const code = typeof error.code === "string" ? error.code : "";
  const known = reasons[code];
  if (known !== undefined) return known + after;
  if (/^(ERR_TLS|ERR_SSL|CERT_|UNABLE_|DEPTH_|SELF_SIGNED|EPROTO|ERR_OSSL)/.test(code)) {
    return `TLS: ${error.message.split("\n", 1)[0]} (${code})`;
  }
  if (code.startsWith("HPE_")) return `the answer is not valid HTTP (${code})`;
  return `${error.message}${code === "" ? "" : ` (${code})`}`;
};
