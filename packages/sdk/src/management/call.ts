// One call of the management API, retried only where that is safe.
import { type Address, serverAt } from "../transport/address.ts";
import { unreachable } from "../transport/client-error.ts";
import { exchange } from "../transport/exchange.ts";
import { jittered } from "../transport/timing.ts";
import { type Failure, type ManagementError, type Result, resultOf } from "./result.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Of each attempt, in milliseconds; 10,000 by default. */
  readonly timeout?: number;
}

export interface PostOptions extends CallOptions {
  /** Lets you repeat a call later without executing it twice. Each call gets a random one by default. */
  readonly idempotencyKey?: string;
}

/** Of calls that change flags or segments. */
export interface ReasonOption {
  /** 1 to 500 characters; included in history and events. */
  readonly reason?: string;
  /** For owners: bypasses the approval of a protected environment. Needs a reason, and is marked in history. */
  readonly bypass?: boolean;
  /** Accepts up to this percentage of changed evaluations, even beyond the impact limit. */
  readonly confirmFlips?: number;
}

/** Options of calls that create, and of changes of several flags together. */
export interface CreateOptions extends PostOptions, ReasonOption {}

export interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether it may be retried when it is unknown whether the server executed it. */
  readonly repeatable: boolean;
  /** Interprets the error of such a retry, which may mean that the first attempt succeeded. */
  readonly reconsider?: (error: ManagementError) => Result<unknown>;
  /** Whether it changes a flag or a segment, so that it can have a reason. */
  readonly takesReason?: true;
  /** Whether the impact limit applies to it. */
  readonly isLimited?: true;
  readonly options?: CreateOptions | undefined;
}

export type Send = <T>(call: Call) => Promise<Result<T>>;

const maxAttempts = 3;
const firstDelay = 250;
/** A call does not wait longer for `Retry-After`. */
const longestWait = 30_000;
const standardTimeout = 10_000;

/** Errors after which it is unknown whether the server executed the request. */
const isUncertain = ({ code, status }: ManagementError): boolean =>
  code === "UNREACHABLE" || code === "UNAVAILABLE" || [502, 503, 504].includes(status ?? 0);

const isWorthRetrying = (error: ManagementError, repeatable: boolean): boolean =>
  error.code === "RATE_LIMITED" || (repeatable && isUncertain(error));

const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

const aborted = (signal: AbortSignal): Failure => ({
  ok: false,
  error: { code: "ABORTED", message: "the call was aborted", cause: signal.reason },
});

/** Until one of the signals aborts. Keeps the program running: the caller waits for the result. */
export const wait = (
  milliseconds: number,
  ...signals: readonly (AbortSignal | undefined)[]
): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      for (const signal of signals) signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    for (const signal of signals) signal?.addEventListener("abort", end);
  });

interface SendOptions extends Address, ReasonOption {
  readonly retryUntil?: AbortSignal;
}

export const createSend = (address: SendOptions): Send => {
  const { retryUntil } = address;
  const { base, authorization, fetch } = serverAt(address);

  const attempt = async <T>(call: Call, headers: Record<string, string>): Promise<Result<T>> => {
    const { method, path, body, options = {} } = call;
    const reason = call.takesReason ? (options.reason ?? address.reason) : undefined;
    const isBypass = call.takesReason === true && (options.bypass ?? address.bypass) === true;
    const confirmed = call.isLimited ? (options.confirmFlips ?? address.confirmFlips) : undefined;
    const parameters = [
      ...(reason === undefined ? [] : [`reason=${pathPart(reason.toWellFormed())}`]),
      ...(isBypass ? ["bypass=true"] : []),
      ...(confirmed === undefined ? [] : [`confirmFlips=${confirmed}`]),
    ];
    const query = parameters.length === 0 ? "" : `?${parameters.join("&")}`;
    try {
      return await exchange<Result<T>>({
        fetch,
        url: `${base}/api/v1${path}${query}`,
        init: { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) },
        timeout: options.timeout ?? standardTimeout,
        signal: options.signal,
        read: resultOf,
      });
    } catch (cause) {
      if (options.signal?.aborted === true) return aborted(options.signal);
      return { ok: false, error: unreachable(cause) as ManagementError };
    }
  };

  return async <T>(call: Call): Promise<Result<T>> => {
    const { signal, idempotencyKey } = call.options ?? {};
    const headers = {
      ...authorization,
      ...(call.body !== undefined && { "content-type": "application/json" }),
      ...(call.method === "POST" && { "idempotency-key": idempotencyKey ?? randomKey() }),
      ...call.headers,
    };
    let uncertain = false;
    for (let number = 1; ; number += 1) {
      if (signal?.aborted === true) return aborted(signal);
      const result = await attempt<T>(call, headers);
      if (result.ok) return result;
      const { error } = result;
      const requested = error.retryAfter ?? 0;
      const again =
        number < maxAttempts && requested <= longestWait && isWorthRetrying(error, call.repeatable);
      const isOver = () => retryUntil?.aborted === true;
      if (again && !isOver()) {
        await wait(Math.max(requested, jittered(firstDelay * 2 ** number)), signal, retryUntil);
      }
      if (!again || isOver()) {
        const reconsider = uncertain && !isUncertain(error) ? call.reconsider : undefined;
        return reconsider === undefined ? result : (reconsider(error) as Result<T>);
      }
      uncertain ||= isUncertain(error);
    }
  };
};

export interface ChangeOptions extends CallOptions, ReasonOption {
  /** Changes it only at this version, which also makes the call safe to retry after a lost response. */
  readonly ifMatch?: number;
}

export const pathPart = encodeURIComponent;

export const matching = (ifMatch: number | string | undefined) =>
  ifMatch === undefined ? {} : { headers: { "if-match": `"${ifMatch}"` } };
