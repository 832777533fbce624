// halyard export: writes all flags of an environment to one file, which can be kept in git.
import { Command, Option } from "commander";
import { fetchLists, fetchPastLists } from "../../flags-file/file-kinds.ts";
import { type FileFormat, fileFormats, writeFlagsFile } from "../../flags-file/flags-file.ts";
import { webhooksAt } from "../../flags-file/webhooks.ts";
import { writeAtomically } from "../../flags-file/write-atomically.ts";
import {
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { type PastOptions, pastCommand, pastOf } from "../../server-connection/past-options.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, printAside, printJson } from "../../terminal/output.ts";

interface ExportOptions extends ConnectionOptions, PastOptions {
  readonly format?: FileFormat;
  readonly output?: string;
  readonly webhooks?: boolean;
  readonly json?: boolean;
}

export const exportCommand = (): Command =>
  withExamples(
    serverCommand(
      pastCommand(new Command("export"))
        .description("write all flags of the environment to a file or to standard output")
        .addOption(
          new Option(
            "--format <format>",
            "default: yaml for files that end in .yaml or .yml, otherwise json",
          ).choices(fileFormats),
        )
        .option("-o, --output <file>", "the file, replaced atomically; - is standard output")
        .option(
          "--webhooks",
          "include webhooks (URL, events and state, no secrets); requires an admin key",
        ),
      "a server",
    ),
    "halyard export --output flags.yaml",
    "halyard export --at 2026-11-14T12:00:00Z --output before.yaml",
    "halyard export -p production | jq '.flags[] | select(.enabled) | .key'",
  ).action(exportFlags);

const formatOf = ({ format, json }: ExportOptions, output: string | undefined): FileFormat => {
  if (json && output === undefined) {
    if (format === "yaml") {
      throw new CommandFailed("Use --json or --format yaml, not both.", exitCodes.usage);
    }
    return "json";
  }
  return format ?? (/\.ya?ml$/i.test(output ?? "") ? "yaml" : "json");
};

const exportFlags = async (options: ExportOptions): Promise<void> => {
  const { json } = options;
  const output = options.output === "-" ? undefined : options.output;
  const format = formatOf(options, output);
  const connection = connect(options);
  const when = pastOf(options);
  if (when !== undefined && options.webhooks) {
    throw new CommandFailed(
      "--webhooks exports current webhooks and can't be combined with a past time.",
      exitCodes.usage,
    );
  }
  const lists = await (when ? fetchPastLists(connection, when) : fetchLists(connection));
  const webhooks = options.webhooks ? await webhooksAt(connection) : undefined;
  const text = await writeFlagsFile({ ...lists, ...(webhooks && { webhooks }) }, format);
  if (output === undefined) {
    process.stdout.write(text);
    return;
  }
  await writeAtomically(output, text);
  if (json) {
    printJson({
      file: output,
      format,
      ...Object.fromEntries(Object.entries(lists).map(([name, { length }]) => [name, length])),
      ...(webhooks && { webhooks: webhooks.length }),
    });
    return;
  }
  const counts = Object.entries({ ...lists, ...(webhooks && { webhooks }) }).map(
    ([name, { length }]) => `${length} ${length === 1 ? name.replace(/s$/, "") : name}`,
  );
  printAside(`${counts.join(" and ")} written to ${output}.`);
};
