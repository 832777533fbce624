// The hash chain of the history: each entry has a digest of its content, and a hash of the previous chain value and that digest.

/** SHA-256 of the text's UTF-8, as 64 lower-case hexadecimal digits. */
export type Hash = (text: string) => string;

/** The chain value before the first entry of an environment. */
export const genesis = "0".repeat(64);

/** The stored values that the digest of an entry covers. */
export interface ChainContent {
  readonly environment: string;
  /** The revision that the change created; null if it created none. */
  readonly revision: number | null;
  readonly subject: string;
  readonly subjectId: string;
  readonly version: number | null;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly actorKeyId: string | null;
  readonly actorName: string;
  readonly actorUserId: string | null;
  readonly actorUserName: string | null;
  readonly reason: string | null;
  /** As stored JSON, like the actions. */
  readonly review: string | null;
  readonly actions: string;
  readonly level: number | null;
  /** Digest of the stored JSON; null if there is none. */
  readonly beforeDigest: string | null;
  readonly afterDigest: string | null;
}

/** Canonical JSON (RFC 8785): fields sorted by name, no white space. Supports integers only. */
const canonical = (entry: ChainContent): string =>
  JSON.stringify({
    actions: entry.actions,
    actorKeyId: entry.actorKeyId,
    actorName: entry.actorName,
    actorUserId: entry.actorUserId,
    actorUserName: entry.actorUserName,
    afterDigest: entry.afterDigest,
    at: entry.at,
    beforeDigest: entry.beforeDigest,
    environment: entry.environment,
    level: entry.level,
    reason: entry.reason,
    review: entry.review,
    revision: entry.revision,
    subject: entry.subject,
    subjectId: entry.subjectId,
    version: entry.version,
  });

export const digestOf = (entry: ChainContent, hash: Hash): string => hash(canonical(entry));

/** Tampered data may contain any value in place of a text. */
export const textDigest = (text: string | null, hash: Hash): string | null =>
  text === null ? null : hash(String(text));

export const chainAfter = (previous: string, digest: string, hash: Hash): string =>
  hash(previous + digest);

/** A checkpoint for entries that were deleted after their retention time. */
export interface PrunedStatement {
  readonly kind: "pruned";
  readonly environment: string;
  readonly at: number;
  /** The chain values before the first of these entries and at the last. */
  readonly from: string;
  readonly to: string;
  readonly entries: number;
  /** The time of the newest of these entries. */
  readonly lastAt: number;
}

/** A checkpoint that permits changed content of an entry, signed with the secret key. */
export interface RedactedStatement {
  readonly kind: "redacted";
  readonly environment: string;
  readonly at: number;
  /** Identifies the entry. */
  readonly chain: string;
  /** The original digest, which the chain covers. */
  readonly digest: string;
  /** The digest of the current content. */
  readonly content: string;
}

export type Statement = PrunedStatement | RedactedStatement;

/** The signed text: canonical JSON. */
export const statementText = (statement: Statement): string =>
  JSON.stringify(
    Object.fromEntries(Object.entries(statement).sort(([a], [b]) => (a < b ? -1 : 1))),
  );

/** Undefined if the value is not a statement. */
export const readStatement = (text: string): Statement | undefined => {
  try {
    const read = JSON.parse(text) as Statement;
    return read?.kind === "pruned" || read?.kind === "redacted" ? read : undefined;
  } catch {
    return undefined;
  }
};

export interface Signature {
  /** Identifies the secret key. */
  readonly keyId: string;
  readonly hmac: string;
}

/** Export format of the history: one entry per line, and each checkpoint before the entry that it concerns or precedes. */
export interface ExportedEntry extends ChainContent {
  readonly type: "entry";
  readonly id: number;
  /** Stored JSON; null if there is none, or if the reader lacks permission. */
  readonly before: string | null;
  readonly after: string | null;
  readonly digest: string | null;
  readonly chain: string | null;
}

export interface ExportedCheckpoint extends Signature {
  readonly type: "checkpoint";
  /** The entry that it concerns, or the last deleted entry. */
  readonly id: number;
  readonly statement: string;
}

export type ExportedPart = ExportedEntry | ExportedCheckpoint;

/** The first line of an export. */
export interface ExportHead {
  readonly type: "history";
  readonly format: 1;
  readonly environment: string;
  /** Advice for the reader about passing the export on. */
  readonly notice?: string;
}

/** The last line of an export: the chain value that the environment has stored. */
export interface ExportEnd {
  readonly type: "end";
  readonly head: string;
}

export type ExportLine = ExportHead | ExportedPart | ExportEnd;
