// halyard flags rules: shows and changes the targeting rules of a flag.
import type { Flag, NewRule, PatchFlag } from "@halyard/core/flags/registry";
import { choiceOf } from "@halyard/core/flags/registry";
import { formatServe } from "@halyard/core/flags/variant";
import { type Condition, everyone } from "@halyard/core/targeting/conditions/condition";
import { withRuleIds } from "@halyard/core/targeting/rule-ids";
import type { Rule, Serve } from "@halyard/core/targeting/targeting";
import { type Command, Option } from "commander";
import {
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { readFlag } from "../../server-connection/flag-change.ts";
import { allOf, conditionHelp, conditions } from "../../terminal/condition.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { wholeNumber } from "../../terminal/option-values.ts";
import { CommandFailed, inOneLine, print, printJson, printTable } from "../../terminal/output.ts";
import { serve } from "../../terminal/shares.ts";
import { conditionText, ruleText } from "../../terminal/targeting-text.ts";
import { type ChangeOptions, changeConfirmed, flagCommand, shown } from "./change.ts";

interface AddOptions extends ChangeOptions {
  readonly id?: string;
  readonly description?: string;
  readonly when?: readonly Condition[];
  readonly everyone?: boolean;
  readonly serve: Serve;
  readonly at?: number;
  readonly otherwise?: "on" | "off";
}

const position = wholeNumber(1, 50);

export const addRuleCommands = (flags: Command): void => {
  const group = flags.command("rules").description("view and change the rules of a flag");

  const list = serverCommand(group.command("list", { isDefault: true }), "a server")
    .description("list the rules of a flag in order; the first rule that matches decides")
    .argument("<flag>", "the flag's key")
    .action(listRules);
  withExamples(list, "halyard flags rules new-checkout");

  const add = flagCommand(group, "add")
    .description("add a rule to a flag, last unless --at is given")
    .argument("<flag>", "the flag's key")
    .option("--when <condition>", "the condition; can be repeated", conditions)
    .addOption(new Option("--everyone", "match everyone, instead of --when").conflicts("when"))
    .requiredOption("--serve <variant>", "a variant, or shares such as on=25,off=75", serve)
    .option("--id <text>", "its name in the flag (default: rule-1, rule-2, …)")
    .option("--description <text>", "what the rule is for")
    .option("--at <number>", "its position in the order; 1 is the first", position)
    .addOption(
      new Option(
        "--otherwise <variant>",
        "for the first rule of a boolean flag: the variant if no rule matches",
      ).choices(["on", "off"]),
    )
    .addHelpText("after", conditionHelp)
    .action(addRule);
  withExamples(
    add,
    `halyard flags rules add new-checkout --id staff --when "email endsWith @acme.com" --serve on --otherwise off`,
    `halyard flags rules add new-checkout --when "plan in pro,team" --when "not segment embargoed" --serve on=25,off=75`,
    "halyard flags rules add new-checkout --everyone --serve on=10,off=90 --otherwise off",
  );

  const onRule = (name: string, description: string) =>
    flagCommand(group, name)
      .description(description)
      .argument("<flag>", "the flag's key")
      .argument("<rule>", "the id of the rule");
  withExamples(
    onRule("remove", "remove a rule from a flag").action(removeRule),
    "halyard flags rules remove new-checkout staff",
  );
  withExamples(
    onRule("enable", "enable a disabled rule").action(
      (key: string, id: string, options: ChangeOptions) => turnRule(key, id, true, options),
    ),
    "halyard flags rules enable new-checkout staff",
  );
  withExamples(
    onRule("disable", "skip a rule without removing it").action(
      (key: string, id: string, options: ChangeOptions) => turnRule(key, id, false, options),
    ),
    "halyard flags rules disable new-checkout staff",
  );
  const move = onRule("move", "move a rule to another position")
    .requiredOption("--at <number>", "its new position; 1 is the first", position)
    .action(moveRule);
  withExamples(move, "halyard flags rules move new-checkout staff --at 1");
};

const rulesOf = ({ rules = [] }: Flag): readonly Rule[] => rules;

const listRules = async (
  key: string,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> => {
  const connection = connect(options);
  const { flag } = await readFlag(connection, key);
  const rules = rulesOf(flag);
  if (options.json) return printJson(rules);
  const hasDescriptions = rules.some(({ description }) => description !== undefined);
  const otherwise = formatServe(choiceOf(flag).otherwise);
  printTable(
    ["#", "rule", "when", "serves", ...(hasDescriptions ? ["description"] : [])],
    [
      ...rules.map(({ id, when, serve: served, disabled, description }, index) => [
        String(index + 1),
        `${id}${disabled === true ? " (disabled)" : ""}`,
        conditionText(when),
        formatServe(served),
        ...(hasDescriptions ? [description ?? ""] : []),
      ]),
      ["", "otherwise", "", otherwise],
    ],
  );
};

/** The index of the rule. Fails if there is none. */
const indexOf = (flag: Flag, id: string): number => {
  const index = rulesOf(flag).findIndex((rule) => rule.id === id);
  if (index !== -1) return index;
  const ids = rulesOf(flag).map((rule) => rule.id);
  throw new CommandFailed(
    inOneLine(
      `The flag "${flag.key}" has no rule "${id}"; ${ids.length === 0 ? "the flag has no rules" : `it has ${ids.join(", ")}`}.`,
    ),
    exitCodes.notFound,
  );
};

/** Changes the current rules, with confirmation in production, and prints the result. */
const changeRules = async (
  key: string,
  options: ChangeOptions,
  what: string,
  patch: (flag: Flag) => PatchFlag,
  said: (flag: Flag, before: Flag) => string,
): Promise<void> => {
  const connection = connect(options);
  const { change, place } = await changeConfirmed(connection, what, { key, patch, options });
  if (options.json) return printJson(shown(change, place));
  const where = `${place.text} (version ${change.version})`;
  if (!change.changed) return print(`${key} is unchanged ${where}.`);
  print(inOneLine(`${key}: ${said(change.flag, change.before)} ${where}.`));
};

const placed = (flag: Flag, id: string): string => {
  const index = indexOf(flag, id);
  const rule = rulesOf(flag)[index];
  const text = rule === undefined ? "" : `: ${ruleText(rule)}`;
  return `rule ${id} is number ${index + 1} of ${rulesOf(flag).length}${text}`;
};

const refuseOtherwise = (flag: Flag, otherwise: string | undefined): void => {
  if (otherwise !== undefined && flag.type !== "boolean") {
    throw new CommandFailed(
      `--otherwise is for boolean flags: "${flag.key}" is a ${flag.type} flag, which has its own default.`,
      exitCodes.usage,
    );
  }
  if (otherwise === undefined && flag.type === "boolean" && flag.rules === undefined) {
    throw new CommandFailed(
      `"${flag.key}" needs a default for users that match no rule: add --otherwise on or --otherwise off.`,
      exitCodes.usage,
    );
  }
};

const addRule = async (key: string, options: AddOptions): Promise<void> => {
  const { id, description, at, otherwise, when = [] } = options;
  if (when.length === 0 && options.everyone !== true) {
    throw new CommandFailed("Pass --when or --everyone.", exitCodes.usage);
  }
  const rule: NewRule = {
    ...(id !== undefined && { id }),
    ...(description !== undefined && { description }),
    when: options.everyone === true ? everyone : allOf(when),
    serve: options.serve,
  };
  let added = "";
  await changeRules(
    key,
    options,
    `Add a rule to ${key}`,
    (flag) => {
      refuseOtherwise(flag, otherwise);
      const before = rulesOf(flag);
      const index = Math.min(at ?? Number.POSITIVE_INFINITY, before.length + 1) - 1;
      const rules = withRuleIds<NewRule>([...before.slice(0, index), rule, ...before.slice(index)]);
      added = rules[index]?.id ?? "";
      return { rules, ...(otherwise !== undefined && { otherwise }) };
    },
    (flag) => placed(flag, added),
  );
};

const removeRule = (key: string, id: string, options: ChangeOptions): Promise<void> =>
  changeRules(
    key,
    options,
    `Remove the rule ${id} from ${key}`,
    (flag) => ({ rules: rulesOf(flag).toSpliced(indexOf(flag, id), 1) }),
    (flag) => {
      const left = rulesOf(flag).length;
      return `rule ${id} is removed, ${left === 0 ? "no rule is" : left === 1 ? "one rule is" : `${left} rules are`} left`;
    },
  );

const turnRule = (
  key: string,
  id: string,
  enabled: boolean,
  options: ChangeOptions,
): Promise<void> =>
  changeRules(
    key,
    options,
    `${enabled ? "Enable" : "Disable"} the rule ${id} of ${key}`,
    (flag) => {
      const index = indexOf(flag, id);
      const { disabled: _, ...rule } = rulesOf(flag)[index] as Rule;
      const turned: Rule = enabled ? rule : { ...rule, disabled: true };
      return { rules: rulesOf(flag).with(index, turned) };
    },
    (flag) => placed(flag, id),
  );

const moveRule = (
  key: string,
  id: string,
  options: ChangeOptions & { readonly at: number },
): Promise<void> =>
  changeRules(
    key,
    options,
    `Move the rule ${id} of ${key}`,
    (flag) => {
      const index = indexOf(flag, id);
      const rule = rulesOf(flag)[index] as Rule;
      const others = rulesOf(flag).toSpliced(index, 1);
      return { rules: others.toSpliced(options.at - 1, 0, rule) };
    },
    (flag) => placed(flag, id),
  );
