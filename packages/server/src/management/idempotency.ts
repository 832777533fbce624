// The same request twice has one effect: the first result is stored in the transaction that made it.
import { conflict, type ErrorCode, type Result } from "../errors.ts";
import type { Clock, Transaction } from "../ports.ts";

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

/** What an earlier request has led to; undefined when this is the first. */
export const earlierResult = async <T>(
  transaction: Transaction,
  once: IdempotentRequest | undefined,
  now: Date,
): Promise<IdempotentResult<T> | undefined> => {
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
  return earlier && { result: once.open(earlier.sealed) as Result<T>, repeated: true };
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
  if (earlier) return earlier;
  const result = await work();
  // An invalid request had no effect: its sender may correct it and keep the key. One that flips too many may be
  // within the limit later. One whose environment is gone has no caller left to store it for.
  const kept = result.ok || !notKept.includes(result.failure.code);
  if (kept) {
    const answer = { fingerprint: once.fingerprint, sealed: once.seal(result) };
    await transaction.saveIdempotencyRecord(
      once.keyId,
      once.keptAs,
      answer,
      new Date(now.getTime() + keptFor),
      now,
    );
  }
  return { result, repeated: false };
};
