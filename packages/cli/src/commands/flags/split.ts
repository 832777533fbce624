// halyard flags split, require and bucket: set the shares, the prerequisites and the bucketing of a flag.
import { choiceOf, type Flag, type PatchFlag } from "@halyard/core/flags/registry";
import { formatServe } from "@halyard/core/flags/variant";
import { allThousandths, thousandthsOf } from "@halyard/core/percentage";
import { recut, type Share } from "@halyard/core/targeting/split";
import type { Requirement, Rule, Serve } from "@halyard/core/targeting/targeting";
import { type Command, InvalidArgumentError } from "commander";
import { connect } from "../../server-connection/connection.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, inOneLine, print, printJson } from "../../terminal/output.ts";
import { movesBetween, movesText, serveOf, shares, sharesOf } from "../../terminal/shares.ts";
import { type ChangeOptions, changeConfirmed, flagCommand, shown } from "./change.ts";

const requirement = (text: string, before: readonly Requirement[] = []): Requirement[] => {
  const [, flag, variant] = /^([^=\s]+)=([^=\s]+)$/.exec(text) ?? [];
  if (flag === undefined || variant === undefined) {
    throw new InvalidArgumentError("It must be flag=variant, such as payments-v2=on.");
  }
  return [...before, { flag, variant }];
};

export const addSplitCommands = (group: Command): void => {
  const split = flagCommand(group, "split")
    .description("set the shares of a flag or a rule so that the fewest users move")
    .argument("<flag>", "the flag's key")
    .argument("<share...>", "variant=percentage, such as red=25 blue=75", shares)
    .option("--rule <id>", "the shares of this rule, instead of the default rule")
    .action(splitFlag);
  withExamples(
    split,
    "halyard flags split button-color red=25 blue=75",
    "halyard flags split button-color red=10 blue=90 --rule beta",
  );

  const require = flagCommand(group, "require")
    .description("set a flag's prerequisites")
    .argument("<flag>", "the flag's key")
    .argument("[prerequisite...]", "flag=variant, such as payments-v2=on", requirement)
    .option("--none", "remove all prerequisites")
    .action(requireFlags);
  withExamples(
    require,
    "halyard flags require new-checkout payments-v2=on",
    "halyard flags require new-checkout --none",
  );

  const bucket = flagCommand(group, "bucket")
    .description("set the attribute and the seed that bucket a flag's users")
    .argument("<flag>", "the flag's key")
    .option(
      "--by <attribute>",
      "bucket by this attribute instead of the targetingKey; an empty string removes it",
    )
    .option(
      "--seed <text>",
      "hashed instead of the flag's key, so that flags share their users; an empty string removes it",
    )
    .action(setBucket);
  withExamples(
    bucket,
    "halyard flags bucket new-checkout --by /company/id",
    `halyard flags bucket new-checkout --by "" --seed checkout-family`,
  );
};

const wantedOf = (given: readonly Share[]): Readonly<Record<string, number>> => {
  const names = given.map(({ variant }) => variant);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new CommandFailed(`"${twice}" has two shares: specify one.`, exitCodes.usage);
  }
  return Object.fromEntries(given.map(({ variant, share }) => [variant, share]));
};

interface Cut {
  readonly before: Serve;
  readonly after: Serve;
  readonly patch: PatchFlag;
}

const cutRule = (flag: Flag, id: string, wanted: Readonly<Record<string, number>>): Cut => {
  const rules: readonly Rule[] = flag.rules ?? [];
  const index = rules.findIndex((rule) => rule.id === id);
  const rule = rules[index];
  if (rule === undefined) {
    throw new CommandFailed(
      inOneLine(`The flag "${flag.key}" has no rule "${id}".`),
      exitCodes.notFound,
    );
  }
  const after = serveOf(recut(sharesOf(rule.serve), wanted));
  return {
    before: rule.serve,
    after,
    patch: { rules: rules.with(index, { ...rule, serve: after }) },
  };
};

const cutFlag = (flag: Flag, wanted: Readonly<Record<string, number>>): Cut => {
  const before = choiceOf(flag).otherwise;
  if (flag.type === "boolean") {
    throw new CommandFailed(
      `"${flag.key}" is a boolean flag: only its rules have shares. Pass --rule, or split everyone with halyard flags rules add ${flag.key} --everyone --serve on=25,off=75 --otherwise off.`,
      exitCodes.usage,
    );
  }
  if (flag.type === "rollout") {
    const { on = 0, off = 0, ...others } = wanted;
    if (
      thousandthsOf(on) + thousandthsOf(off) !== allThousandths ||
      Object.keys(others).length > 0
    ) {
      throw new CommandFailed(
        `"${flag.key}" is a rollout flag: specify shares of on and off that add up to 100, or use halyard flags rollout ${flag.key}.`,
        exitCodes.usage,
      );
    }
    const patch = { percentage: on };
    return { before, after: choiceOf({ ...flag, percentage: on }).otherwise, patch };
  }
  const after = serveOf(recut(sharesOf(before), wanted));
  return { before, after, patch: { otherwise: after } };
};

const splitFlag = async (
  key: string,
  given: readonly Share[],
  options: ChangeOptions & { readonly rule?: string },
): Promise<void> => {
  const wanted = wantedOf(given);
  const { rule } = options;
  const connection = connect(options);
  let cut: Cut | undefined;
  const patch = (flag: Flag): PatchFlag => {
    cut = rule === undefined ? cutFlag(flag, wanted) : cutRule(flag, rule, wanted);
    return cut.patch;
  };
  const what = rule === undefined ? key : `the rule ${rule} of ${key}`;
  const { change, place } = await changeConfirmed(connection, `Change the shares of ${what}`, {
    key,
    patch,
    options,
  });
  const { before, after } = cut ?? { before: [], after: [] };
  const moves = movesBetween(sharesOf(before), sharesOf(after));
  if (options.json) return printJson({ ...shown(change, place), moves });
  const name = rule === undefined ? key : `${key}, rule ${rule}`;
  const where = `${place.text} (version ${change.version})`;
  if (!change.changed) return print(`${name} had these shares already ${where}.`);
  print(
    inOneLine(
      `${name}: ${formatServe(before)} → ${formatServe(after)} ${where}. ${movesText(moves)}`,
    ),
  );
  if (!change.flag.enabled) {
    print(`The flag is off: everyone gets ${choiceOf(change.flag).off} until it is turned on.`);
  }
};

const requireFlags = async (
  key: string,
  given: readonly Requirement[] | undefined,
  options: ChangeOptions & { readonly none?: boolean },
): Promise<void> => {
  const requires = given ?? [];
  if ((requires.length === 0) !== (options.none === true)) {
    throw new CommandFailed("Pass prerequisites as flag=variant, or pass --none.", exitCodes.usage);
  }
  const connection = connect(options);
  const { change, place } = await changeConfirmed(
    connection,
    `Change the prerequisites of ${key}`,
    {
      key,
      patch: { requires },
      options,
    },
  );
  if (options.json) return printJson(shown(change, place));
  const where = `${place.text} (version ${change.version})`;
  const list = requires.map(({ flag, variant }) => `${flag} = ${variant}`).join(", ");
  const says = requires.length === 0 ? "requires nothing" : `requires ${list}`;
  if (!change.changed) return print(`${key} ${says} ${where}, as before.`);
  print(`${key} now ${says} ${where}.`);
  if (requires.length > 0) {
    print(`Users without these variants get ${choiceOf(change.flag).off}.`);
  }
};

const setBucket = async (
  key: string,
  options: ChangeOptions & { readonly by?: string; readonly seed?: string },
): Promise<void> => {
  const { by, seed } = options;
  if (by === undefined && seed === undefined) {
    throw new CommandFailed("Pass --by, --seed or both.", exitCodes.usage);
  }
  const connection = connect(options);
  const { change, place } = await changeConfirmed(connection, `Change the bucketing of ${key}`, {
    key,
    patch: {
      ...(by !== undefined && { bucketBy: by === "" ? null : by }),
      ...(seed !== undefined && { bucketSeed: seed === "" ? null : seed }),
    },
    options,
  });
  if (options.json) return printJson(shown(change, place));
  const { bucketBy = "targetingKey", bucketSeed } = change.flag;
  const says = `buckets by ${bucketBy}${bucketSeed === undefined ? "" : ` with the seed ${JSON.stringify(bucketSeed)}`}`;
  const where = `${place.text} (version ${change.version})`;
  if (!change.changed) return print(inOneLine(`${key} ${says} ${where}, as before.`));
  print(
    inOneLine(`${key} now ${says} ${where}. Percentages and splits now reach different users.`),
  );
};
