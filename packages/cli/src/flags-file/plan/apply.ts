// Applies a plan at a server: several flags at once, each only if it has not changed since it was planned.
import { setTimeout as pause } from "node:timers/promises";
import { isSameFlag } from "@halyard/core/difference";
import type { Flag } from "@halyard/core/flags/registry";
import type { Management, ManagementError, Result } from "@halyard/sdk";
import type { Change } from "./plan.ts";

export type Outcome =
  | { readonly kind: "done" }
  /** Somebody else changed it meanwhile; it is left as it is now. */
  | { readonly kind: "conflict"; readonly message: string }
  | { readonly kind: "failed"; readonly error: ManagementError }
  /** An earlier failure ended the run, or the change is impossible. */
  | { readonly kind: "untried" };

interface Watch {
  readonly onProgress: (done: number) => void;
  /** The rate limit is reached for this many milliseconds. */
  readonly onWait: (milliseconds: number) => void;
}

const concurrency = 16;
const done: Outcome = { kind: "done" };
const conflict = (message: string): Outcome => ({ kind: "conflict", message });

/** Errors that every other flag would meet too. */
const fatalCodes = new Set<ManagementError["code"]>([
  "UNAUTHORIZED",
  "FORBIDDEN",
  "UNREACHABLE",
  "UNAVAILABLE",
  "UNEXPECTED_ANSWER",
  "RATE_LIMITED",
]);

export const applyChanges = async (
  { flags }: Management,
  changes: readonly Change[],
  { onProgress, onWait }: Watch,
): Promise<Outcome[]> => {
  /** The rate limit counts per minute: many flags wait for the next one. */
  const withRateLimit = async <T>(call: () => Promise<Result<T>>): Promise<Result<T>> => {
    for (;;) {
      const result = await call();
      if (result.ok || result.error.code !== "RATE_LIMITED") return result;
      const { retryAfter } = result.error;
      if (retryAfter === undefined) return result;
      onWait(retryAfter);
      await pause(retryAfter);
    }
  };

  const failed = (error: ManagementError, conflictMessage: string): Outcome =>
    error.code === "PRECONDITION_FAILED" || error.code === "NOT_FOUND"
      ? conflict(conflictMessage)
      : { kind: "failed", error };

  /** The version to change, or why not to change it. */
  const findVersion = async (
    before: Flag,
    target: Flag | undefined,
  ): Promise<{ version: number } | Outcome> => {
    const now = await withRateLimit(() => flags.get(before.key));
    if (!now.ok) {
      if (now.error.code === "NOT_FOUND" && target === undefined) return done;
      return failed(now.error, "was deleted meanwhile");
    }
    if (target && isSameFlag(now.value, target)) return done;
    if (!isSameFlag(now.value, before)) return conflict("was changed meanwhile");
    return { version: now.version ?? 0 };
  };

  const create = async ({ flag }: Change & { kind: "create" }): Promise<Outcome> => {
    const { enabled, ...request } = flag;
    const { key } = flag;
    const made = await withRateLimit(() => flags.create(request));
    if (!made.ok) {
      if (made.error.code !== "CONFLICT") return { kind: "failed", error: made.error };
      const now = await withRateLimit(() => flags.get(key));
      // There are other conflicts than a duplicate key, such as too many flags.
      if (!now.ok) return { kind: "failed", error: made.error };
      return isSameFlag(now.value, flag)
        ? done
        : conflict("was created meanwhile, with other values");
    }
    if (!enabled) return done;
    const turned = await withRateLimit(() =>
      flags.update(key, { enabled }, { ifMatch: made.version ?? 1 }),
    );
    return turned.ok ? done : failed(turned.error, "was changed right after it was created");
  };

  const execute = async (change: Change): Promise<Outcome> => {
    switch (change.kind) {
      case "create":
        return create(change);
      case "update": {
        const { key, before, after, patch } = change;
        const found = await findVersion(before, after);
        if ("kind" in found) return found;
        const changed = await withRateLimit(() =>
          flags.update(key, patch, { ifMatch: found.version }),
        );
        return changed.ok ? done : failed(changed.error, "was changed meanwhile");
      }
      case "delete": {
        const found = await findVersion(change.flag, undefined);
        if ("kind" in found) return found;
        const gone = await withRateLimit(() =>
          flags.delete(change.key, { ifMatch: found.version }),
        );
        if (gone.ok || gone.error.code === "NOT_FOUND") return done;
        return failed(gone.error, "was changed meanwhile");
      }
      case "retype":
        return { kind: "untried" };
    }
  };

  const outcomes: Outcome[] = changes.map(() => ({ kind: "untried" }));
  let next = 0;
  let count = 0;
  let isStopped = false;
  const work = async (): Promise<void> => {
    for (let index = next++; index < changes.length && !isStopped; index = next++) {
      const change = changes[index];
      if (change === undefined) return;
      const outcome = await execute(change);
      outcomes[index] = outcome;
      if (outcome.kind === "failed" && fatalCodes.has(outcome.error.code)) isStopped = true;
      count += 1;
      onProgress(count);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return outcomes;
};
