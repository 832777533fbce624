// halyard history export: writes the history with its hashes, to store and verify it elsewhere.
import { Command } from "commander";
import { writeAtomically } from "../../flags-file/write-atomically.ts";
import {
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { withExamples } from "../../terminal/examples.ts";
import { printAside, printJson } from "../../terminal/output.ts";
import { partsOfServer } from "./lines.ts";

interface ExportOptions extends ConnectionOptions {
  readonly output?: string;
  readonly json?: boolean;
}

export const exportHistoryCommand = (): Command =>
  withExamples(
    serverCommand(
      new Command("export")
        .description("write the history with its hashes as JSON lines, oldest first")
        .option("-o, --output <file>", "the file, replaced atomically; - is standard output"),
      "a server",
    ),
    "halyard history export --output history.jsonl",
    "halyard history export | python3 conformance/verify-history.py -",
  ).action(exportHistory);

const exportHistory = async (options: ExportOptions): Promise<void> => {
  const output = options.output === "-" ? undefined : options.output;
  const parts = partsOfServer(connect(options));
  if (output === undefined) {
    for await (const part of parts) process.stdout.write(part);
    return;
  }
  const texts: string[] = [];
  for await (const part of parts) texts.push(part);
  await writeAtomically(output, texts.join(""));
  const lines = texts.reduce((sum, text) => sum + text.split("\n").length - 1, 0);
  if (options.json) printJson({ file: output, lines });
  else printAside(`${lines} lines written to ${output}.`);
};
