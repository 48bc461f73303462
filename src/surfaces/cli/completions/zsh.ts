import { quotedShellWord } from "../../../domain/text/shell-word.ts";
import type { Command, Flag } from "../command.ts";
import { globalFlags } from "../globals.ts";
import { argumentLines, type Spot, spellings, spotsOf, type Values, valueFlags, valuesOf } from "./spots.ts";

/** The script for zsh: every word is offered with its summary. */
export function zshScript(tree: Command): string {
  const spots = spotsOf(tree);
  const program = tree.name;
  return `#compdef ${program} overstory
# zsh completion for ${program}. Save it as _${program} in a directory of $fpath, or: source <(${program} completions zsh)

_${program}_takes_value() {
  case "$1" in
${valueFlags(spots)
  .map(({ at, flag }) => `    ${patterns(at, flag)}) return 0 ;;`)
  .join("\n")}
  esac
  return 1
}

_${program}_program() {
  local -a found
  found=("\${(@f)$(command ${program} __complete "$1" -- "$cur" 2>/dev/null)}")
  compadd -- \${found:#}
}

_${program}() {
  local cur="$words[CURRENT]" prev="$words[CURRENT-1]" at="" word
  local -a offered
  integer i=2 count=0
  if [[ $cur == --*=* ]]; then
    prev="\${cur%%=*}"
    cur="\${cur#*=}"
    compset -P '*='
  fi
  while ((i < CURRENT)); do
    word="$words[i]"
    ((i += 1))
    if _${program}_takes_value "$at:$word"; then
      ((i += 1))
      continue
    fi
    case "$at:$word" in
${spots.flatMap(({ at, commands }) => commands.map(({ name }) => `      ${quotedShellWord(`${at}:${name}`)}) at=${quotedShellWord(at === "" ? name : `${at} ${name}`)} ;;`)).join("\n")}
      *:-*) ;;
      *) ((count += 1)) ;;
    esac
  done
  case "$at:$prev" in
${valueFlags(spots)
  .map(({ at, flag }) => `    ${patterns(at, flag)}) ${offer(program, valuesOf(flag))}; return ;;`)
  .join("\n")}
  esac
  if [[ $cur == -* ]]; then
    case "$at" in
${spots.map((spot) => `      ${quotedShellWord(spot.at)}) offered=(${flagItems(spot)}) ;;`).join("\n")}
    esac
    _describe -o flag offered
    return
  fi
  case "$at" in
${spots
  .filter(({ commands }) => commands.length > 0)
  .map(
    ({ at, commands }) =>
      `    ${quotedShellWord(at)}) offered=(${commands.map(({ name, summary }) => item(name, summary)).join(" ")}) ;;`,
  )
  .join("\n")}
  esac
  if ((\${#offered})); then _describe command offered; fi
  case "$at:$count" in
${spots.flatMap((spot) => argumentLines(spot, (values) => offer(program, values))).join("\n")}
    *) ;;
  esac
}

if [[ "$funcstack[1]" == "_${program}" ]]; then
  _${program} "$@"
else
  compdef _${program} ${program} overstory
fi
`;
}

const patterns = (at: string | undefined, flag: Flag): string =>
  spellings(flag)
    .map((word) => (at === undefined ? `*:${word}` : quotedShellWord(`${at}:${word}`)))
    .join("|");

const item = (name: string, summary: string): string => quotedShellWord(`${name.replaceAll(":", "\\:")}:${summary}`);

const flagItems = ({ flags }: Spot): string =>
  [...flags, ...globalFlags].flatMap((flag) => spellings(flag).map((word) => item(word, flag.summary))).join(" ");

function offer(program: string, values: Values): string {
  switch (values.from) {
    case "words":
      return `compadd -- ${values.words.map(quotedShellWord).join(" ")}`;
    case "files":
      return "_files";
    case "program":
      return `_${program}_program ${values.source}`;
    case "free":
      return ":";
  }
}
