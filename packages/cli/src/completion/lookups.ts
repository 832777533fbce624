// Functions that the completion scripts for bash and zsh share: looking up a command, and the value of an option.
import { type CompletedCommand, valuedOptions, valueText } from "./tree.ts";

export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Both succeed if the command or option exists, and set its properties. */
export const lookups = (
  commands: readonly CompletedCommand[],
  commandCase: (command: CompletedCommand) => string,
): string => `\
_halyard_command() {
  case "$1" in
${commands.map(commandCase).join("\n")}
    *) return 1 ;;
  esac
}

_halyard_option() {
  case "$1 $2" in
${valuedOptions(commands)
  .map(
    ({ place, name, value }) =>
      `    ${place === undefined ? `*${quoted(` ${name}`)}` : quoted(`${place} ${name}`)}) kind=${quoted(valueText(value))} ;;`,
  )
  .join("\n")}
    *) return 1 ;;
  esac
}`;
