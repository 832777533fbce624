// How one change of a plan ended, and how calls wait for the rate limit.
import { wait } from "../management/call.ts";
import type { Failure, ManagementError, Result } from "../management/result.ts";

export type Outcome =
  /** Without a version, it was up to date already. */
  | { readonly kind: "done"; readonly version?: number }
  /** It has changed since it was planned; it was not changed again. */
  | { readonly kind: "conflict"; readonly message: string }
  | { readonly kind: "failed"; readonly error: ManagementError }
  /** An earlier failure ended the run, or the server rejected its group. */
  | { readonly kind: "untried" };

/** Nothing to change. */
export const done: Outcome = { kind: "done" };
export const doneAt = (version: number): Outcome => ({ kind: "done", version });
export const untried: Outcome = { kind: "untried" };
export const conflict = (message: string): Outcome => ({ kind: "conflict", message });

/** The flag or segment has another version by now, or was deleted. */
export const isConflict = ({ code }: ManagementError): boolean =>
  code === "PRECONDITION_FAILED" || code === "NOT_FOUND";

const stopped: Failure = {
  ok: false,
  error: { code: "ABORTED", message: "It was stopped while the rate limit was reached." },
};

/** The rate limit counts per minute: many changes wait for the next one. */
export type Call = <T>(send: () => Promise<Result<T>>) => Promise<Result<T>>;

/** `onWait`: the rate limit is reached for this many milliseconds. After the signal aborts, nothing is sent again. */
export const withRateLimit =
  (onWait: (milliseconds: number) => void, signal?: AbortSignal): Call =>
  async (send) => {
    for (;;) {
      const result = await send();
      if (result.ok || result.error.code !== "RATE_LIMITED") return result;
      const { retryAfter } = result.error;
      if (retryAfter === undefined) return result;
      if (signal?.aborted !== true) {
        onWait(retryAfter);
        await wait(retryAfter, signal);
      }
      if (signal?.aborted === true) return stopped;
    }
  };
