// halyard history redact: replaces a person's name and address in the history of every environment.
import { Command } from "commander";
import { type OperatorOptions, operatorCommand, withOperator } from "../../operator.ts";
import { confirm } from "../../terminal/ask.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, print, printJson } from "../../terminal/output.ts";

interface RedactOptions extends OperatorOptions {
  readonly user?: string;
  readonly name: readonly string[];
  readonly email: readonly string[];
  readonly yes?: boolean;
}

const collect = (value: string, earlier: readonly string[]): readonly string[] => [
  ...earlier,
  value,
];

export const redactCommand = (): Command =>
  withExamples(
    operatorCommand(
      new Command("redact")
        .description(
          "replace a person's name and address in the history of all environments; the hash chain stays valid, and signed checkpoints record which entries changed",
        )
        .option(
          "--user <id>",
          "the id of their account; redacts every name that the history has for it",
        )
        .option("--name <name>", "a name; can be repeated", collect, [])
        .option("--email <address>", "an email address; can be repeated", collect, [])
        .option("-y, --yes", "skip confirmation"),
    ),
    "halyard history redact --user usr_3f9a0c5be1d24f6a --email ada@example.com",
  ).action(redact);

const redact = async (options: RedactOptions): Promise<void> => {
  const { user, name: names, email: emails, json } = options;
  if (user === undefined && names.length + emails.length === 0) {
    throw new CommandFailed("Specify --user, --name, or --email.", exitCodes.usage);
  }
  await withOperator(options, async (operator, place) => {
    await confirm(
      `Redact the names from the history${place.text}? This is permanent.`,
      options.yes,
    );
    const results = await operator.redactHistory({ id: user, names, emails });
    if (json) return printJson({ ...place.json, environments: results });
    for (const { environment, redacted, refused } of results) {
      if (redacted.length > 0) {
        print(
          `${environment}: names redacted in ${redacted.length} entries${place.text}: ${redacted.join(", ")}.`,
        );
      }
      if (refused.length > 0) {
        print(
          `${environment}: not changed, because their history is not valid: ${refused.join(", ")}.`,
        );
      }
    }
    if (results.every((each) => each.redacted.length + each.refused.length === 0)) {
      print(`No matching history entries${place.text}.`);
    }
  });
};
