// The commands and options that a shell can complete. The name of a placeholder says what kind of value it accepts.
import type { Argument, Command, Option } from "commander";

/** The kind of value of a placeholder. `nothing` is free text. */
export type Value =
  | { readonly kind: "choices"; readonly choices: readonly string[] }
  | {
      readonly kind:
        | "file"
        | "folder"
        | "flag"
        | "segment"
        | "profile"
        | "webhook"
        | "request"
        | "nothing";
    };

export interface CompletedOption {
  /** `--profile`, and `-p` if there is a short form. */
  readonly names: readonly string[];
  readonly description: string;
  /** Undefined for a switch. */
  readonly value: Value | undefined;
}

export interface CompletedCommand {
  /** Such as `flags get`; empty for the top level. */
  readonly place: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  readonly arguments: readonly Value[];
  /** The last argument can be repeated. */
  readonly variadic: boolean;
}

const kinds: Readonly<Record<string, Value>> = {
  file: { kind: "file" },
  folder: { kind: "folder" },
  place: { kind: "folder" },
  flag: { kind: "flag" },
  segment: { kind: "segment" },
  profile: { kind: "profile" },
  a: { kind: "profile" },
  b: { kind: "profile" },
  webhook: { kind: "webhook" },
  request: { kind: "request" },
};

const valueNamed = (name: string, choices: readonly string[] | undefined): Value => {
  if (choices) return { kind: "choices", choices };
  return (Object.hasOwn(kinds, name) ? kinds[name] : undefined) ?? { kind: "nothing" };
};

const completedOption = (option: Option): CompletedOption => {
  const placeholder = /[<[]([^>\].]+)/.exec(option.flags)?.[1];
  const name = option.long === "--profile" ? "profile" : placeholder;
  return {
    names: [option.long, option.short].filter((text) => text !== undefined && text !== null),
    description: option.description,
    // An optional value is not completed, because the next word is more likely an argument.
    value: name === undefined || option.optional ? undefined : valueNamed(name, option.argChoices),
  };
};

/** The top level and every command that its help shows. */
export const completedCommands = (command: Command, place = ""): readonly CompletedCommand[] => {
  const help = command.createHelp();
  const children = help.visibleCommands(command);
  const names = children.map((child) => child.name()).filter((name) => name !== "help");
  const valueFor = (argument: Argument) =>
    valueNamed(argument.name(), argument.argChoices ?? undefined);
  // A group with one kind of list omits the word "list": `flags rules new-checkout`.
  const list = children.find((child) => child.name() === "list");
  const { registeredArguments } = children.length > 0 && list ? list : command;
  const here: CompletedCommand = {
    place,
    commands: children.map((child) => ({
      name: child.name(),
      description: child.summary() || child.description(),
    })),
    options: help.visibleOptions(command).map(completedOption),
    arguments: registeredArguments.map(valueFor),
    variadic: registeredArguments.at(-1)?.variadic ?? false,
  };
  return [
    here,
    ...children.flatMap((child) => {
      const inner = place === "" ? child.name() : `${place} ${child.name()}`;
      if (child.name() !== "help") return completedCommands(child, inner);
      const argument: Value = { kind: "choices", choices: names };
      return [{ place: inner, commands: [], options: [], arguments: [argument], variadic: false }];
    }),
  ];
};

export interface ValuedOption {
  /** Undefined if the option means the same in every command. */
  readonly place: string | undefined;
  readonly name: string;
  readonly value: Value;
}

/** All options that take a value, once if every command with the option agrees. */
export const valuedOptions = (commands: readonly CompletedCommand[]): readonly ValuedOption[] => {
  const all = commands.flatMap(({ place, options }) =>
    options.flatMap(({ names, value }) => names.map((name) => ({ place, name, value }))),
  );
  const byName = Map.groupBy(all, ({ name }) => name);
  return [...byName].flatMap(([name, uses]): ValuedOption[] => {
    const [first] = uses;
    const agree = uses.every(({ value }) => JSON.stringify(value) === JSON.stringify(first?.value));
    if (agree) return first?.value ? [{ place: undefined, name, value: first.value }] : [];
    return uses.flatMap(({ place, value }) => (value ? [{ place, name, value }] : []));
  });
};

/** The text for a value in the scripts, such as `flag` or `choices:boolean rollout`. */
export const valueText = (value: Value): string =>
  value.kind === "choices" ? `choices:${value.choices.join(" ")}` : value.kind;
