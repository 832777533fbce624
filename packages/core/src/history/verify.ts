// Verifies a history: follows the chain from the first entry to the head and reports integrity failures.
import {
  chainAfter,
  digestOf,
  type ExportedCheckpoint,
  type ExportedEntry,
  type ExportLine,
  genesis,
  type Hash,
  type PrunedStatement,
  type RedactedStatement,
  readStatement,
  textDigest,
} from "./chain.ts";

/** Whether a checkpoint is signed; undefined if the key is not available. */
export type IsSigned = (checkpoint: ExportedCheckpoint) => boolean | undefined;

export interface HistoryProblem {
  /** The number of the entry; null if the problem concerns none. */
  readonly id: number | null;
  /** The time that the entry states. */
  readonly at: number | null;
  readonly message: string;
}

export interface HistoryVerification {
  readonly environment: string;
  /** The chain value at the last entry. */
  readonly head: string;
  readonly entries: number;
  /** The number of entries deleted after their retention time, and the time of the newest. */
  readonly pruned: number;
  readonly prunedUntil: number | null;
  /** The numbers of entries with redacted names. */
  readonly redacted: readonly number[];
  /** The number of checkpoints whose signature couldn't be checked because the key is not available. */
  readonly uncheckedSignatures: number;
  /** The number of entries at the end that the next change will chain. */
  readonly unchained: number;
  /** The first problems found. */
  readonly problems: readonly HistoryProblem[];
  readonly problemCount: number;
}

/** Further problems are only counted. */
const maxProblems = 20;
const maxRedacted = 1_000;

export interface HistoryVerifier {
  add(line: ExportLine): void;
  end(): HistoryVerification;
}

export interface VerifierOptions {
  readonly isSigned?: IsSigned;
  /** Called with the chain value at every entry. */
  readonly onChain?: (chain: string) => void;
}

export const createHistoryVerifier = (
  hash: Hash,
  { isSigned = () => undefined, onChain = () => {} }: VerifierOptions = {},
): HistoryVerifier => {
  let environment = "";
  let chain = genesis;
  let head: string | undefined;
  let entries = 0;
  let pruned = 0;
  let prunedUntil: number | null = null;
  let uncheckedSignatures = 0;
  let unchained = 0;
  let problemCount = 0;
  const redacted: number[] = [];
  const problems: HistoryProblem[] = [];
  /** By chain value of the entry that they concern. */
  const redactions = new Map<string, RedactedStatement>();

  const found = (message: string, entry?: Pick<ExportedEntry, "id" | "at">): void => {
    problemCount += 1;
    if (problems.length >= maxProblems) return;
    problems.push({ id: entry?.id ?? null, at: entry?.at ?? null, message });
  };

  const nameOf = ({ id, subject, subjectId, version }: ExportedEntry): string =>
    `entry ${id} (${subject} ${subjectId}${version === null ? "" : ` v${version}`})`;

  /** Checks the content of the entry against its digest, or against a checkpoint that permits other content. */
  const checkContent = (entry: ExportedEntry): void => {
    const { before, after, beforeDigest, afterDigest, digest } = entry;
    const isText =
      (before === null || textDigest(before, hash) === beforeDigest) &&
      (after === null || textDigest(after, hash) === afterDigest);
    const content = digestOf({ ...entry, environment }, hash);
    if (!isText) {
      found(`${nameOf(entry)} was changed: a text does not match its digest`, entry);
      return;
    }
    const statement = entry.chain === null ? undefined : redactions.get(entry.chain);
    if (statement) {
      redactions.delete(entry.chain ?? "");
      if (statement.digest === digest && statement.content === content) {
        if (redacted.length < maxRedacted) redacted.push(entry.id);
        return;
      }
    }
    if (content !== digest) {
      found(`${nameOf(entry)} was changed: it does not match its digest`, entry);
    }
  };

  const addEntry = (entry: ExportedEntry): void => {
    entries += 1;
    if (entry.chain === null || entry.digest === null) {
      unchained += 1;
      return;
    }
    if (unchained > 0) {
      found(`${unchained} entries before ${nameOf(entry)} are not part of the chain`, entry);
      unchained = 0;
    }
    checkContent(entry);
    if (chainAfter(chain, entry.digest, hash) !== entry.chain) {
      found(
        `${nameOf(entry)} does not follow the one before it: an entry was removed, added or changed`,
        entry,
      );
    }
    // Continue from the entry's own chain value, so that each failure is reported once.
    chain = entry.chain;
    onChain(chain);
  };

  const addPruned = (statement: PrunedStatement, id: number): void => {
    if (statement.from !== chain) {
      found(`the checkpoint of ${statement.entries} deleted entries up to ${id} does not follow`);
    }
    pruned += statement.entries;
    prunedUntil = Math.max(prunedUntil ?? 0, statement.lastAt);
    chain = statement.to;
    onChain(chain);
  };

  const addCheckpoint = (checkpoint: ExportedCheckpoint): void => {
    const statement = readStatement(checkpoint.statement);
    const signed = isSigned(checkpoint);
    if (signed === undefined) uncheckedSignatures += 1;
    if (!statement || signed === false || statement.environment !== environment) {
      found(`the checkpoint at entry ${checkpoint.id} is not signed with the secret key`);
      return;
    }
    if (statement.kind === "pruned") addPruned(statement, checkpoint.id);
    else redactions.set(statement.chain, statement);
  };

  return {
    add(line) {
      switch (line.type) {
        case "history":
          environment = line.environment;
          break;
        case "entry":
          addEntry(line);
          break;
        case "checkpoint":
          addCheckpoint(line);
          break;
        case "end":
          head = line.head;
          break;
        default:
          found("a line is neither an entry nor a checkpoint");
      }
    },

    end() {
      if (head === undefined) found("the end of the history is missing");
      else if (head !== chain) {
        found(
          `the history ends at ${chain}, but the stored head is ${head}: entries at the end were removed or changed`,
        );
      }
      if (unchained > 0) found(`${unchained} entries at the end are not part of the chain`);
      for (const { chain: about } of redactions.values()) {
        found(`a checkpoint is about an entry that is not there: ${about}`);
      }
      return {
        environment,
        head: chain,
        entries,
        pruned,
        prunedUntil,
        redacted,
        uncheckedSignatures,
        unchained,
        problems,
        problemCount,
      };
    },
  };
};
