// One call of the management API: its request, and another attempt only where that can do no harm.
import { type Address, serverAt } from "../transport/address.ts";
import { unreachable } from "../transport/client-error.ts";
import { exchange } from "../transport/exchange.ts";
import { jittered } from "../transport/timing.ts";
import { type Failure, type ManagementError, type Result, resultOf } from "./result.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** For each attempt, in milliseconds; 10,000 unless told otherwise. */
  readonly timeout?: number;
}

export interface PostOptions extends CallOptions {
  /** Your own, to repeat a call later without its being carried out twice; otherwise each call gets a random one. */
  readonly idempotencyKey?: string;
}

export interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether it may be sent again when nobody knows if it was carried out. */
  readonly repeatable: boolean;
  /** After such a repetition: what an error really means, where it may mean that the first attempt got through. */
  readonly reconsider?: (error: ManagementError) => Result<unknown>;
  readonly options?: PostOptions | undefined;
}

export type Send = <T>(call: Call) => Promise<Result<T>>;

const maxAttempts = 3;
const firstDelay = 250;
/** Nobody should wait longer for a call without having asked to. */
const longestWait = 30_000;
const standardTimeout = 10_000;

/** Answers after which nobody knows whether the request was carried out. */
const isUncertain = ({ code, status }: ManagementError): boolean =>
  code === "UNREACHABLE" || code === "UNAVAILABLE" || [502, 503, 504].includes(status ?? 0);

const isWorthAnother = (error: ManagementError, repeatable: boolean): boolean =>
  error.code === "RATE_LIMITED" || (repeatable && isUncertain(error));

const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

const aborted = (signal: AbortSignal): Failure => ({
  ok: false,
  error: { code: "ABORTED", message: "the call was given up by its signal", cause: signal.reason },
});

/** Here somebody waits for the answer, so the program must not end meanwhile. */
const wait = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end);
  });

export const createSend = (address: Address): Send => {
  const { base, authorization, fetch } = serverAt(address);

  const attempt = async <T>(call: Call, headers: Record<string, string>): Promise<Result<T>> => {
    const { method, path, body, options = {} } = call;
    try {
      return await exchange<Result<T>>({
        fetch,
        url: `${base}/api/v1${path}`,
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
      const asked = error.retryAfter ?? 0;
      const again =
        number < maxAttempts && asked <= longestWait && isWorthAnother(error, call.repeatable);
      if (!again) {
        const reconsider = uncertain && !isUncertain(error) ? call.reconsider : undefined;
        return reconsider === undefined ? result : (reconsider(error) as Result<T>);
      }
      uncertain ||= isUncertain(error);
      await wait(Math.max(asked, jittered(firstDelay * 2 ** number)), signal);
    }
  };
};
