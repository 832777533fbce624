// The completion script for bash, 3.2 and newer.
import { lookups, quoted } from "./lookups.ts";
import { type CompletedCommand, valueText } from "./tree.ts";

const commandCase = ({
  place,
  commands,
  options,
  arguments: values,
  variadic,
}: CompletedCommand) => {
  const parts = [
    `commands=${quoted(commands.map(({ name }) => name).join(" "))}`,
    `options=${quoted(options.flatMap(({ names }) => names).join(" "))}`,
    `arguments=(${values.map((value) => quoted(valueText(value))).join(" ")})`,
    `variadic=${variadic ? "yes" : ""}`,
  ];
  return `    ${quoted(place)}) ${parts.join(" ")} ;;`;
};

export const bashCompletion = (commands: readonly CompletedCommand[]): string => `\
# Completion of halyard for bash: eval "$(halyard completion bash)"

${lookups(commands, commandCase)}

_halyard() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place="" pending="" position=0 index word kind="" more=""
  local commands options variadic found each
  local -a arguments
  COMPREPLY=()
  _halyard_command ""
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    # Bash takes --option=value and http://host:80 apart.
    if [[ $word == "=" ]]; then continue; fi
    if [[ $word == ":" ]]; then
      ((index++))
      continue
    fi
    if [[ -n $pending ]]; then
      pending=""
    elif [[ $word == -* ]]; then
      if _halyard_option "$place" "$word"; then pending="$word"; fi
    elif [[ -n $commands ]] && _halyard_command "\${place:+$place }$word"; then
      place="\${place:+$place }$word"
    else
      ((position++))
    fi
  done
  kind=""
  if [[ $current == "=" ]]; then current=""; fi
  if [[ -n $pending ]]; then
    _halyard_option "$place" "$pending"
  elif [[ $current == -* ]]; then
    kind="choices:$options"
  elif [[ -n $commands ]]; then
    if ((position == 0)); then
      kind="choices:$commands"
      more="\${arguments[0]}"
    fi
  elif ((position < \${#arguments[@]})); then
    kind="\${arguments[position]}"
  elif [[ -n $variadic ]]; then
    kind="\${arguments[\${#arguments[@]} - 1]}"
  fi
  while IFS= read -r found; do
    if [[ -n $found ]]; then COMPREPLY+=("$found"); fi
  done < <(
    for each in "$kind" "$more"; do
      case "$each" in
        choices:*) compgen -W "\${each#choices:}" -- "$current" ;;
        file) compgen -f -- "$current" ;;
        folder) compgen -d -- "$current" ;;
        flag | segment | profile | webhook)
          "\${COMP_WORDS[0]}" suggest "$each" "$current" -- "\${COMP_WORDS[@]:1}" 2> /dev/null
          ;;
      esac
    done
  )
  case "$kind" in
    file | folder) compopt -o filenames 2> /dev/null ;;
  esac
}

complete -F _halyard halyard
`;
