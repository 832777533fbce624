// The chain of history: each entry has a digest of what it says, and a hash over the chain before it and that digest.

/** SHA-256 of the text's UTF-8, as 64 lower-case hexadecimal digits. */
export type Hash = (text: string) => string;

/** What the first entry of an environment follows. */
export const genesis = "0".repeat(64);

/** What the digest of an entry covers, as it is stored. */
export interface ChainContent {
  readonly environment: string;
  /** The revision of the environment that the change made; null when it made none. */
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
  /** JSON as it is stored, as are the actions. */
  readonly review: string | null;
  readonly actions: string;
  readonly level: number | null;
  /** Of the stored JSON; null when there is none. */
  readonly beforeDigest: string | null;
  readonly afterDigest: string | null;
}

/** Canonical JSON (RFC 8785): the members sorted by name, no white space. The numbers are whole ones. */
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

/** Whatever somebody has put in the place of a text. */
export const textDigest = (text: string | null, hash: Hash): string | null =>
  text === null ? null : hash(String(text));

export const chainAfter = (previous: string, digest: string, hash: Hash): string =>
  hash(previous + digest);

/** What stands in the place of entries that were deleted after their retention. */
export interface PrunedStatement {
  readonly kind: "pruned";
  readonly environment: string;
  readonly at: number;
  /** The chain before the first of them and at the last. */
  readonly from: string;
  readonly to: string;
  readonly entries: number;
  /** The time of the newest of them. */
  readonly lastAt: number;
}

/** Says that an entry reads differently from what it said, with the permission of whoever holds the secret key. */
export interface RedactedStatement {
  readonly kind: "redacted";
  readonly environment: string;
  readonly at: number;
  /** Names the entry. */
  readonly chain: string;
  /** What it said, which the chain runs over. */
  readonly digest: string;
  /** The digest of what it says now. */
  readonly content: string;
}

export type Statement = PrunedStatement | RedactedStatement;

/** The text that is signed: canonical JSON. */
export const statementText = (statement: Statement): string =>
  JSON.stringify(
    Object.fromEntries(Object.entries(statement).sort(([a], [b]) => (a < b ? -1 : 1))),
  );

/** Undefined when it is none. */
export const readStatement = (text: string): Statement | undefined => {
  try {
    const read = JSON.parse(text) as Statement;
    return read?.kind === "pruned" || read?.kind === "redacted" ? read : undefined;
  } catch {
    return undefined;
  }
};

export interface Signature {
  /** Names the secret key. */
  readonly keyId: string;
  readonly hmac: string;
}

/** What of history is exported and verified: an entry a line, a checkpoint before the entry that it concerns or that follows. */
export interface ExportedEntry extends ChainContent {
  readonly type: "entry";
  readonly id: number;
  /** JSON as it is stored; null when there is none, or when the reader may not see it. */
  readonly before: string | null;
  readonly after: string | null;
  readonly digest: string | null;
  readonly chain: string | null;
}

export interface ExportedCheckpoint extends Signature {
  readonly type: "checkpoint";
  /** The entry that it is about, or the last one of those that are gone. */
  readonly id: number;
  readonly statement: string;
}

export type ExportedPart = ExportedEntry | ExportedCheckpoint;

/** The first line of an export. */
export interface ExportHead {
  readonly type: "history";
  readonly format: 1;
  readonly environment: string;
  /** What the reader has to know before passing the export on. */
  readonly notice?: string;
}

/** Its last line: the chain that the environment keeps. */
export interface ExportEnd {
  readonly type: "end";
  readonly head: string;
}

export type ExportLine = ExportHead | ExportedPart | ExportEnd;
