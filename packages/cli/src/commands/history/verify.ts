// halyard history verify: verifies the hash chain of a history, and compares it with hashes that a receiver has kept.
import { hash } from "node:crypto";
import type { ExportLine } from "@halyard/core/history/chain";
import { createHistoryVerifier, type HistoryVerification } from "@halyard/core/history/verify";
import { Command } from "commander";
import { configFor } from "../../operator.ts";
import {
  answered,
  type Connection,
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, inOneLine, print, printAside, printJson } from "../../terminal/output.ts";
import { linesOfFile, linesOfServer } from "./lines.ts";

interface VerifyOptions extends ConnectionOptions {
  readonly file?: string;
  readonly head?: string;
  readonly events?: string;
  readonly json?: boolean;
}

export const verifyCommand = (): Command =>
  withExamples(
    serverCommand(
      new Command("verify")
        .description(
          "check that the history was not changed afterwards: downloads it, verifies its hash chain on this machine and reports integrity failures",
        )
        .option("--file <file>", "verify an export instead of a server's history")
        .option("--head <hash>", "the history must contain this head, which a receiver has kept")
        .option(
          "--events <file>",
          "JSON lines of events that a receiver has kept: the history must contain the hash of each",
        ),
      "a server",
    ),
    "halyard history verify",
    "halyard history verify --file history.jsonl --events received.jsonl",
  ).action(verify);

/** A hash that a receiver has kept. */
interface Kept {
  readonly chain: string;
  /** The time of the event; null if only the head is known. */
  readonly at: number | null;
  readonly name: string;
}

const readKept = async ({ head, events }: VerifyOptions): Promise<readonly Kept[]> => {
  const kept: Kept[] = [];
  if (head !== undefined) {
    const chain = head.trim().toLowerCase();
    if (!/^[0-9a-f]{64}$/.test(chain)) {
      throw new CommandFailed("--head must have 64 hexadecimal digits.", exitCodes.usage);
    }
    kept.push({ chain, at: null, name: `the head ${chain}` });
  }
  if (events !== undefined) {
    for await (const line of linesOfFile(events)) {
      const { id, chain, createdAt } = line as Readonly<Record<string, unknown>>;
      // Test events, and events from before history had a chain, have none.
      if (typeof chain !== "string") continue;
      const at = Date.parse(String(createdAt));
      kept.push({ chain, at: Number.isNaN(at) ? null : at, name: `the event ${String(id)}` });
    }
    if (kept.length === 0) {
      throw new CommandFailed(`${events} has no event with a chain.`, exitCodes.usage);
    }
  }
  return kept;
};

/** Checks the signatures of checkpoints if the secret key is available, as on the server's machine. */
const signatureCheck = async () => {
  if (!process.env.HALYARD_SECRET_KEY) return undefined;
  const { secretKeys } = await configFor(undefined);
  const { checkpointCheck } = await import("@halyard/server/operator/history");
  return checkpointCheck(secretKeys);
};

interface Walked {
  readonly verification: HistoryVerification;
  /** The kept hashes that are missing from the history. */
  readonly missing: readonly Kept[];
}

const walk = async (
  lines: AsyncIterable<ExportLine>,
  kept: readonly Kept[],
  isSigned: Awaited<ReturnType<typeof signatureCheck>>,
): Promise<Walked> => {
  const wanted = new Set(kept.map(({ chain }) => chain));
  const verifier = createHistoryVerifier((text) => hash("sha256", text, "hex"), {
    ...(isSigned && { isSigned }),
    onChain: (chain) => wanted.delete(chain),
  });
  for await (const line of lines) verifier.add(line);
  return {
    verification: verifier.end(),
    missing: kept.filter(({ chain }) => wanted.has(chain)),
  };
};

const isFine = ({ verification, missing }: Walked): boolean =>
  verification.problemCount === 0 && missing.length === 0;

/** Entries that were pruned can't be compared, judging by their time. */
const sort = ({ verification: { prunedUntil }, missing }: Walked) => {
  const isPruned = ({ at }: Kept) => at !== null && prunedUntil !== null && at <= prunedUntil;
  return {
    pruned: missing.filter(isPruned),
    rewritten: missing.filter((each) => !isPruned(each)),
  };
};

const verify = async (options: VerifyOptions): Promise<void> => {
  const kept = await readKept(options);
  const isSigned = await signatureCheck();
  const connection = options.file === undefined ? connect(options) : undefined;
  const read = () =>
    connection
      ? linesOfServer(connection)
      : (linesOfFile(options.file ?? "") as AsyncIterable<ExportLine>);
  let walked = await walk(read(), kept, isSigned);
  // Entries can be deleted between two parts of the download, so a failure counts only if a second attempt repeats it.
  if (connection && !isFine(walked)) walked = await walk(read(), kept, isSigned);
  const onServer = connection ? await serverProblems(connection, walked) : [];
  report(walked, kept.length, onServer, options.json === true);
};

/** Without the secret key, relies on the server to check the signatures of checkpoints. */
const serverProblems = async (
  connection: Connection,
  { verification }: Walked,
): Promise<readonly string[]> => {
  if (verification.uncheckedSignatures === 0) return [];
  const { problems } = answered(connection, await connection.management.verifyHistory());
  return problems.map(({ message }) => `the server reports: ${message}`);
};

const factsOf = (
  { entries, pruned, redacted, unchained, uncheckedSignatures }: HistoryVerification,
  keptCount: number,
): readonly string[] => [
  `${entries} entries`,
  ...(keptCount > 0 ? [`${keptCount} kept ${keptCount === 1 ? "hash" : "hashes"} compared`] : []),
  ...(pruned > 0 ? [`${pruned} older entries deleted after their retention time`] : []),
  ...(redacted.length > 0 ? [`names redacted in ${redacted.join(", ")}`] : []),
  ...(unchained > 0 ? [`${unchained} entries not part of the chain`] : []),
  ...(uncheckedSignatures > 0
    ? [`the signatures of ${uncheckedSignatures} checkpoints not checked here (HALYARD_SECRET_KEY)`]
    : []),
];

const report = (
  walked: Walked,
  keptCount: number,
  onServer: readonly string[],
  isJson: boolean,
): void => {
  const { verification } = walked;
  const { environment, head, problems, problemCount } = verification;
  const { pruned, rewritten } = sort(walked);
  const lost = rewritten.map(
    ({ name, at }) =>
      `${name} is not in the history: it was rewritten${at === null && verification.pruned > 0 ? ", or the entry was deleted after its retention time" : ""}`,
  );
  const found = [...problems.map(({ message }) => message), ...lost, ...onServer];
  if (isJson)
    printJson({ ...verification, missing: rewritten, uncomparable: pruned.length, onServer });
  else {
    for (const message of found.slice(0, 20)) print(`FAIL  ${inOneLine(message)}`);
    print(inOneLine(`${environment}: ${factsOf(verification, keptCount).join("; ")}.`));
    print(`Head: ${inOneLine(head)}`);
  }
  if (pruned.length > 0) {
    printAside(`${pruned.length} kept events are older than the oldest entry of the history.`);
  }
  const count = problemCount + lost.length + onServer.length;
  if (count > 0) {
    throw new CommandFailed(
      `The history of ${environment} is not valid: ${count} integrity ${count === 1 ? "failure" : "failures"}.`,
    );
  }
  if (!isJson) print("History verified. No problems found.");
};
