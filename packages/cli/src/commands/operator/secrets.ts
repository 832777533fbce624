// halyard secrets: manages the keys that encrypt stored secrets of webhooks and two-factor authentication.
import { Command } from "commander";
import { type OperatorOptions, operatorCommand, withOperator } from "../../operator.ts";
import { withExamples } from "../../terminal/examples.ts";
import { print, printJson } from "../../terminal/output.ts";

const lostText =
  "The key that protects account email addresses could not be decrypted, so a new one was created. Halyard now compares current addresses only, and no longer addresses that accounts had before.";

export const secretCommands = (): Command => {
  const group = new Command("secrets").description(
    "manage the encryption of webhook and two-factor secrets",
  );
  const reencrypt = operatorCommand(group.command("reencrypt"))
    .description(
      "encrypt all webhook and two-factor secrets with the first key of HALYARD_SECRET_KEY; then you can remove older keys",
    )
    .option(
      "--lost-address-key",
      "create a new key for account email addresses if the key is lost permanently; earlier addresses no longer count",
    )
    .action((options: OperatorOptions & { readonly lostAddressKey?: true }) =>
      withOperator(options, async ({ reencryptSecrets }, place) => {
        const isAddressKeyLost = options.lostAddressKey === true;
        const { count, lostAddresses } = await reencryptSecrets({ isAddressKeyLost });
        if (options.json) {
          const lost = lostAddresses && { lostAddresses };
          return printJson({ reencrypted: count, ...lost, ...place.json });
        }
        const secrets = `${count} secret${count === 1 ? "" : "s"}${place.text}`;
        print(`Encrypted ${secrets} with the newest key.`);
        if (lostAddresses) print(lostText);
      }),
    );
  withExamples(reencrypt, 'HALYARD_SECRET_KEY="$NEW,$OLD" halyard secrets reencrypt');
  return group;
};
