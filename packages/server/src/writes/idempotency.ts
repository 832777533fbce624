// The same request twice has one effect: the first result is stored in the transaction that made it.

import type { Clock, Transaction } from "../platform/database/store.ts";
import { conflict, type ErrorCode, type Result } from "../platform/errors.ts";

const keptFor = 24 * 60 * 60 * 1_000;

/** A request that its sender may repeat. Results can hold secrets, so they are encrypted before they are stored. */
export interface IdempotentRequest {
  readonly keyId: string;
  readonly name: string;
  /** The name in the store, unique across callers. */
  readonly keptAs: string;
  readonly fingerprint: string;
  seal(result: unknown): Uint8Array;
  open(sealed: Uint8Array): unknown;
}

export interface IdempotentResult<T> {
  readonly result: Result<T>;
  /** Whether this is the result of an earlier request. */
  readonly repeated: boolean;
}

/** What is stored for work in several transactions that has not ended yet: enough to continue it. */
interface Begun<B> {
  readonly begun: B;
}

/** The result or the state of an earlier request; undefined when this is the first. */
export const earlierResult = async <T, B = never>(
  transaction: Transaction,
  once: IdempotentRequest | undefined,
  now: Date,
): Promise<IdempotentResult<T> | Begun<B> | undefined> => {
  if (!once) return undefined;
  const earlier = await transaction.idempotencyRecord(once.keyId, once.keptAs, now);
  if (earlier && earlier.fingerprint !== once.fingerprint) {
    return {
      result: conflict(
        `The Idempotency-Key "${once.name}" was used for another request within the last 24 hours; use a new one.`,
      ),
      repeated: false,
    };
  }
  if (!earlier) return undefined;
  const stored = once.open(earlier.sealed) as Result<T> | Begun<B>;
  return "begun" in stored ? stored : { result: stored, repeated: true };
};

const save = async (
  transaction: Transaction,
  once: IdempotentRequest,
  stored: unknown,
  now: Date,
): Promise<void> => {
  const record = { fingerprint: once.fingerprint, sealed: once.seal(stored) };
  const until = new Date(now.getTime() + keptFor);
  await transaction.saveIdempotencyRecord(once.keyId, once.keptAs, record, until, now);
};

/** Stores the state, so that a repeated request can continue. */
export const saveBegun = async (
  transaction: Transaction,
  once: IdempotentRequest | undefined,
  begun: unknown,
  now: Date,
): Promise<void> => {
  if (!once) return;
  // Replaces an earlier record whose work is gone.
  await transaction.deleteIdempotencyRecord(once.keyId, once.keptAs);
  await save(transaction, once, { begun }, now);
};

const notKept: readonly ErrorCode[] = ["VALIDATION_FAILED", "TOO_MANY_FLIPS", "UNAUTHORIZED"];

export const runIdempotent = async <T>(
  transaction: Transaction,
  once: IdempotentRequest | undefined,
  clock: Clock,
  work: () => Promise<Result<T>>,
): Promise<IdempotentResult<T>> => {
  if (!once) return { result: await work(), repeated: false };
  const now = clock();
  const earlier = await earlierResult<T>(transaction, once, now);
  if (earlier && !("begun" in earlier)) return earlier;
  // The result replaces the state of unfinished work.
  if (earlier) await transaction.deleteIdempotencyRecord(once.keyId, once.keptAs);
  const result = await work();
  // An invalid request had no effect: its sender may correct it and keep the key. One that flips too many may be
  // within the limit later. One whose environment is gone has no caller left to store it for.
  const kept = result.ok || !notKept.includes(result.failure.code);
  if (kept) await save(transaction, once, result, now);
  return { result, repeated: false };
};
