// halyard secrets: the keys that encrypt secrets at rest, of webhooks and of second factors.
import { Command } from "commander";
import { type OperatorOptions, operatorCommand, withOperator } from "../../operator.ts";
import { withExamples } from "../../terminal/examples.ts";
import { print, printJson } from "../../terminal/output.ts";

const lostText =
  "The key that protects the addresses of accounts could not be decrypted, so a new one was made. Halyard compares the addresses that accounts have now, and no longer those that they had before.";

export const secretCommands = (): Command => {
  const group = new Command("secrets").description(
    "manage the encryption of the secrets of webhooks and second factors",
  );
  const reencrypt = operatorCommand(group.command("reencrypt"))
    .description(
      "encrypt every secret of webhooks and second factors with the first key of HALYARD_SECRET_KEY; after that, the older keys can be removed",
    )
    .option(
      "--lost-address-key",
      "make a new key for the addresses of accounts if the key is lost for good; earlier addresses no longer count",
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
