// halyard secrets: the keys that encrypt secrets at rest, of webhooks and of second factors.
import { Command } from "commander";
import { type OperatorOptions, operatorCommand, withOperator } from "../../operator.ts";
import { withExamples } from "../../terminal/examples.ts";
import { print, printJson } from "../../terminal/output.ts";

export const secretCommands = (): Command => {
  const group = new Command("secrets").description(
    "manage the encryption of the secrets of webhooks and second factors",
  );
  const reencrypt = operatorCommand(group.command("reencrypt"))
    .description(
      "encrypt every secret of webhooks and second factors with the first key of HALYARD_SECRET_KEY; after that, the older keys can be removed",
    )
    .action((options: OperatorOptions) =>
      withOperator(options, async ({ reencryptSecrets }, place) => {
        const count = await reencryptSecrets();
        if (options.json) return printJson({ reencrypted: count, ...place.json });
        const secrets = `${count} secret${count === 1 ? "" : "s"}${place.text}`;
        print(`Encrypted ${secrets} with the newest key.`);
      }),
    );
  withExamples(reencrypt, 'HALYARD_SECRET_KEY="$NEW,$OLD" halyard secrets reencrypt');
  return group;
};
