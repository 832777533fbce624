// The response to a request that its sender may repeat, as stored.

interface IdempotencyRecord {
  readonly fingerprint: string;
  readonly sealed: Uint8Array;
}

export interface IdempotencyWrites {
  idempotencyRecord(keyId: string, name: string, now: Date): Promise<IdempotencyRecord | undefined>;
  saveIdempotencyRecord(
    keyId: string,
    name: string,
    answer: IdempotencyRecord,
    until: Date,
    now: Date,
  ): Promise<void>;
  deleteIdempotencyRecord(keyId: string, name: string): Promise<void>;
}
