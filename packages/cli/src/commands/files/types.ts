// halyard types: writes the flags of an environment as a TypeScript interface, or checks that the file is up to date.
import { Command } from "commander";
import { readDocument, readText } from "../../flags-file/document.ts";
import { type FileLists, fetchLists } from "../../flags-file/file-kinds.ts";
import { readFlagsFile } from "../../flags-file/read-flags-file.ts";
import { differenceOf, type TypesDifference, typesOf } from "../../flags-file/types-file.ts";
import { writeAtomically } from "../../flags-file/write-atomically.ts";
import {
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, print, printAside, printJson } from "../../terminal/output.ts";

interface TypesOptions extends ConnectionOptions {
  readonly output: string;
  readonly file?: string;
  readonly check?: boolean;
  readonly openfeature?: boolean;
  readonly json?: boolean;
}

export const typesCommand = (): Command =>
  withExamples(
    serverCommand(
      new Command("types")
        .description("write the flags of the environment as a TypeScript interface")
        .option("-o, --output <file>", "the file; - is standard output", "halyard-flags.d.ts")
        .option(
          "--file <file>",
          "read the flags from a file that halyard export wrote, not from a server",
        )
        .option("--check", "write nothing, and exit with 7 if the file is out of date")
        .option("--openfeature", "also limit the flag keys of OpenFeature's SDKs to these flags"),
      "a server",
    ),
    "halyard types --output src/halyard-flags.d.ts",
    "halyard types --output src/halyard-flags.d.ts --check",
    "halyard types --file flags.yaml --openfeature",
  ).action(writeTypes);

const listsFor = async ({ file, ...options }: TypesOptions): Promise<FileLists> =>
  file === undefined
    ? fetchLists(connect(options, " Or name a file with --file."))
    : readFlagsFile(await readDocument(file));

const requireUsable = ({ output, check, openfeature }: TypesOptions): void => {
  if (output === "-" && check) {
    throw new CommandFailed("--check needs the name of a file with --output.", exitCodes.usage);
  }
  // OpenFeature's own types can be replaced only from a .d.ts file.
  if (openfeature && output !== "-" && !output.endsWith(".d.ts")) {
    throw new CommandFailed(
      `With --openfeature, the file name must end in .d.ts, not ${output}.`,
      exitCodes.usage,
    );
  }
};

const writeTypes = async (options: TypesOptions): Promise<void> => {
  requireUsable(options);
  const { output, openfeature = false, json } = options;
  const { flags } = await listsFor(options);
  const text = typesOf(flags, openfeature);
  if (options.check) {
    const difference = differenceOf(readText(output), text);
    if (json) printJson({ file: output, upToDate: difference === undefined, ...difference });
    else print(reportOf(output, difference));
    if (difference !== undefined) process.exitCode = exitCodes.different;
    return;
  }
  if (output === "-") {
    process.stdout.write(text);
    return;
  }
  await writeAtomically(output, text);
  if (json) printJson({ file: output, flags: flags.length });
  else printAside(`${flags.length} ${flags.length === 1 ? "flag" : "flags"} written to ${output}.`);
};

const reportOf = (file: string, difference: TypesDifference | undefined): string => {
  if (difference === undefined) return `${file} is up to date.`;
  const { added, removed, changed } = difference;
  const lines = [
    ...added.map((key) => `+ ${key}`),
    ...removed.map((key) => `- ${key}`),
    ...changed.map((key) => `~ ${key}`),
  ];
  const why =
    lines.length > 0
      ? `${added.length} added, ${removed.length} removed, ${changed.length} changed`
      : "it has the same flags, but was written with other options or edited";
  return [...lines, `${file} is out of date: ${why}. Write it again without --check.`].join("\n");
};
