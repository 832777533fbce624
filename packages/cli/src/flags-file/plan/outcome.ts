// How one change of a plan ended, and how calls wait for the rate limit.
import { setTimeout as pause } from "node:timers/promises";
import type { ManagementError, Result } from "@halyard/sdk";

export type Outcome =
  | { readonly kind: "done" }
  /** Somebody else changed it meanwhile; it is left as it is now. */
  | { readonly kind: "conflict"; readonly message: string }
  | { readonly kind: "failed"; readonly error: ManagementError }
  /** An earlier failure ended the run, or refused the group in which it was sent. */
  | { readonly kind: "untried" };

export const done: Outcome = { kind: "done" };
export const untried: Outcome = { kind: "untried" };
export const conflict = (message: string): Outcome => ({ kind: "conflict", message });

/** Somebody else was faster: the thing is at another version, or gone. */
export const isConflict = ({ code }: ManagementError): boolean =>
  code === "PRECONDITION_FAILED" || code === "NOT_FOUND";

/** The rate limit counts per minute: many changes wait for the next one. */
export type Call = <T>(send: () => Promise<Result<T>>) => Promise<Result<T>>;

/** `onWait`: the rate limit is reached for this many milliseconds. */
export const withRateLimit =
  (onWait: (milliseconds: number) => void): Call =>
  async (send) => {
    for (;;) {
      const result = await send();
      if (result.ok || result.error.code !== "RATE_LIMITED") return result;
      const { retryAfter } = result.error;
      if (retryAfter === undefined) return result;
      onWait(retryAfter);
      await pause(retryAfter);
    }
  };
