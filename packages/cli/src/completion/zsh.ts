// The completion script for zsh.
import { lookups, quoted } from "./lookups.ts";
import { type CompletedCommand, valueText } from "./tree.ts";

/** In the format of \`_describe\`, where a colon would end the name. */
const described = (name: string, description: string): string =>
  quoted(`${name.replaceAll(":", String.raw`\:`)}:${description.replaceAll("\n", " ")}`);

const commandCase = ({
  place,
  commands,
  options,
  arguments: values,
  variadic,
}: CompletedCommand) => `\
    ${quoted(place)})
      commands=(${commands.map(({ name, description }) => described(name, description)).join(" ")})
      options=(${options.flatMap(({ names, description }) => names.map((name) => described(name, description))).join(" ")})
      values=(${values.map((value) => quoted(valueText(value))).join(" ")}) variadic=${variadic ? "yes" : ""}
      ;;`;

export const zshCompletion = (commands: readonly CompletedCommand[]): string => `\
#compdef halyard
# Completion of halyard for zsh: source <(halyard completion zsh), after compinit

${lookups(commands, commandCase)}

_halyard() {
  local current="\${words[CURRENT]}" place="" pending="" position=1 index word kind="" variadic=""
  local -a commands options values found
  _halyard_command ""
  for ((index = 2; index < CURRENT; index++)); do
    word="\${words[index]}"
    if [[ -n $pending ]]; then
      pending=""
    elif [[ $word == -* ]]; then
      if _halyard_option "$place" "$word"; then pending="$word"; fi
    elif (( \${#commands} > 0 )) && _halyard_command "\${place:+$place }$word"; then
      place="\${place:+$place }$word"
    else
      (( position++ ))
    fi
  done
  kind=""
  if [[ -z $pending && $current == --*=* ]]; then
    pending="\${current%%=*}"
    current="\${current#*=}"
    compset -P '*='
  fi
  if [[ -n $pending ]]; then
    _halyard_option "$place" "$pending"
  elif [[ $current == -* ]]; then
    _describe -o option options
    return
  elif (( \${#commands} > 0 )); then
    (( position == 1 )) || return
    _describe command commands
    kind="\${values[1]}"
  elif (( position <= \${#values} )); then
    kind="\${values[position]}"
  elif [[ -n $variadic ]]; then
    kind="\${values[-1]}"
  fi
  case "$kind" in
    choices:*) found=(\${=kind#choices:}) ;;
    file) _files; return ;;
    folder) _files -/; return ;;
    flag|segment|profile|webhook)
      found=(\${(f)"$("\${words[1]}" suggest "$kind" "$current" -- "\${(@)words[2,-1]}" 2> /dev/null)"})
      ;;
  esac
  (( \${#found} > 0 )) && compadd -- "\${found[@]}"
}

if [[ "\${funcstack[1]}" == _halyard ]]; then
  _halyard "$@"
else
  compdef _halyard halyard
fi
`;
