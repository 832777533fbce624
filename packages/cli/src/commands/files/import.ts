// halyard import: makes the flags of an environment match a file from Halyard or another product.
import { planChanges } from "@halyard/core/plan/plan";
import { Command, Option } from "commander";
import { fetchLists } from "../../flags-file/file-kinds.ts";
import { type ExecuteOptions, execute } from "../../flags-file/plan/execute.ts";
import { origins, readTarget, type TargetOptions } from "../../flags-file/plan/read-target.ts";
import {
  type CreatedFromFile,
  createWebhooks,
  missingWebhooks,
} from "../../flags-file/webhooks.ts";
import {
  type ConnectionOptions,
  connect,
  reasonedCommand,
} from "../../server-connection/connection.ts";
import { placeOf } from "../../server-connection/place.ts";
import { withExamples } from "../../terminal/examples.ts";
import { inOneLine, print, printAside } from "../../terminal/output.ts";
import { printImportReport } from "./import-report.ts";

interface ImportOptions extends ConnectionOptions, ExecuteOptions, TargetOptions {
  readonly prune?: boolean;
  readonly webhooks?: boolean;
}

export const importCommand = (): Command =>
  withExamples(
    reasonedCommand(
      new Command("import")
        .description("make the flags and segments of the environment match a file; safe to repeat")
        .argument("<file>", "JSON or YAML; - reads standard input")
        .addOption(
          new Option("--from <product>", "the product that exported the file")
            .choices(origins)
            .default("halyard"),
        )
        .option(
          "-e, --environment <name>",
          "the environment of the other product, if its file contains several",
        )
        .option("--dry-run", "show what would change without changing it")
        .option("--exit-code", "with --dry-run: exit with 7 if something would change")
        .option("--prune", "delete the flags and segments that are not in the file")
        .option("--webhooks", "create webhooks from the file whose URL is not registered yet")
        .option("--lossy", "also create skipped flags, turned off")
        .option("--rename-invalid", "rename flags and variants with invalid names as suggested"),
    ),
    "halyard import flags.yaml --dry-run",
    "halyard import flags.yaml --prune --yes -p staging",
    "halyard import export.json --from unleash --environment production",
    "halyard import flags.goff.yaml --from go-feature-flag --dry-run",
  ).action(importFlags);

const importFlags = async (file: string, options: ImportOptions): Promise<void> => {
  const { json = false, dryRun = false, prune = false } = options;
  const connection = connect(options);
  const target = await readTarget(file, options);
  const { whole, leftOut, notes, remarks, counts, keep, createOnly } = target;
  const [there, place] = await Promise.all([fetchLists(connection), placeOf(connection)]);
  const plan = planChanges(there, target, { prune, keep, createOnly });
  const missing =
    options.webhooks && target.webhooks ? await missingWebhooks(connection, target.webhooks) : [];
  if (!json) printImportReport(target);
  if (!json && target.webhooks && !options.webhooks) {
    printAside(
      "The file contains webhooks, which are not imported. Add --webhooks to create them.",
    );
  }

  await execute({
    connection,
    place,
    plan,
    options,
    doing: "Importing",
    confirms: false,
    hasMore: missing.length > 0,
    async more() {
      const created: CreatedFromFile[] = [];
      if (dryRun && !json) for (const { url } of missing) print(`+ webhook ${inOneLine(url)}`);
      const failure = dryRun
        ? undefined
        : await createWebhooks(connection, missing, (webhook) => {
            created.push(webhook);
            if (json) return;
            print(
              `+ webhook ${inOneLine(webhook.url)}\n  secret ${webhook.secret} (shown only once)`,
            );
          });
      const report = {
        ...(options.from !== "halyard" && { whole, notes, leftOut, remarks, counts }),
        ...(options.webhooks && { webhooks: dryRun ? missing : created }),
      };
      return { report, failure };
    },
  });
};
