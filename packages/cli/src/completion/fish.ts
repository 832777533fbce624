// The completion script for fish, 3.1 and newer.
import { type CompletedCommand, type CompletedOption, type Value, valuedOptions } from "./tree.ts";

const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, (match) => `\\${match}`)}'`;

/** The options of \`complete\` that offer a value. */
const offering = (value: Value): string => {
  switch (value.kind) {
    case "choices":
      return `-a ${quoted(value.choices.join(" "))}`;
    case "file":
      return "-F";
    case "folder":
      return `-a '(__fish_complete_directories (commandline -ct))'`;
    case "nothing":
      return "";
    default:
      return `-a ${quoted(`(__halyard_suggest ${value.kind})`)}`;
  }
};

const optionLine = (place: string, { names, description, value }: CompletedOption): string => {
  const spelled = names.map((name) =>
    name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  const takes = value === undefined ? "" : value.kind === "file" ? "-r" : "-x";
  const offered = value === undefined ? "" : offering(value);
  return `complete -c halyard -n ${quoted(`__halyard_at ${quoted(place)}`)} ${spelled.join(" ")} ${takes} ${offered} -d ${quoted(description)}`.replaceAll(
    / {2,}/g,
    " ",
  );
};

const linesOf = ({
  place,
  commands,
  options,
  arguments: values,
  variadic,
}: CompletedCommand): string[] => [
  ...commands.map(
    ({ name, description }) =>
      `complete -c halyard -n ${quoted(`__halyard_at ${quoted(place)} 0`)} -a ${quoted(name)} -d ${quoted(description)}`,
  ),
  ...options.map((option) => optionLine(place, option)),
  ...values.flatMap((value, index) => {
    const position = variadic && index === values.length - 1 ? `${index}+` : String(index);
    const offered = offering(value);
    const condition = quoted(`__halyard_at ${quoted(place)} ${position}`);
    return offered === "" ? [] : [`complete -c halyard -n ${condition} ${offered}`];
  }),
];

export const fishCompletion = (commands: readonly CompletedCommand[]): string => `\
# Completion of halyard for fish: halyard completion fish | source

function __halyard_takes_value
    switch "$argv[1] $argv[2]"
        case ${valuedOptions(commands)
          .map(({ place, name }) => quoted(place === undefined ? `* ${name}` : `${place} ${name}`))
          .join(" ")}
            return 0
    end
    return 1
end

# Which command the line has come to, and how many arguments it has; looked at once for each line.
function __halyard_look
    set -l tokens (commandline -opc)
    if set -q __halyard_tokens; and test "$__halyard_tokens" = "$tokens"
        return
    end
    set -g __halyard_tokens $tokens
    set -g __halyard_place ''
    set -g __halyard_position 0
    set -l pending ''
    for word in $tokens[2..-1]
        if test -n "$pending"
            set pending ''
        else if string match -q -- '-*' $word
            if not string match -q -- '*=*' $word; and __halyard_takes_value "$__halyard_place" $word
                set pending $word
            end
        else
            set -l inner (string trim -- "$__halyard_place $word")
            if contains -- $inner ${commands
              .filter(({ place }) => place !== "")
              .map(({ place }) => quoted(place))
              .join(" ")}
                set -g __halyard_place $inner
            else
                set -g __halyard_position (math $__halyard_position + 1)
            end
        end
    end
end

function __halyard_at
    __halyard_look
    test "$__halyard_place" = "$argv[1]"; or return 1
    test -n "$argv[2]"; or return 0
    if string match -q -- '*+' $argv[2]
        test $__halyard_position -ge (string trim -c + -- $argv[2])
    else
        test $__halyard_position -eq $argv[2]
    end
end

function __halyard_suggest
    set -l tokens (commandline -opc)
    $tokens[1] suggest $argv[1] (commandline -ct) -- $tokens[2..-1] 2>/dev/null
end

complete -c halyard -f
${commands.flatMap(linesOf).join("\n")}
`;
