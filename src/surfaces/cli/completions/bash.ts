import { quotedShellWord } from "../../../domain/text/shell-word.ts";
import type { Command } from "../command.ts";
import { globalFlags } from "../globals.ts";
import { argumentLines, type Spot, spellings, spotsOf, type Values, valueFlags, valuesOf } from "./spots.ts";

/**
 * The script for bash. Values from the program are compared and quoted one by one: handing them to `compgen -W` would
 * have the shell expand them, and a branch may be named like a command substitution.
 */
export function bashScript(tree: Command): string {
  const spots = spotsOf(tree);
  const program = tree.name;
  return `# bash completion for ${program}. Load it with: source <(${program} completions bash)

_${program}_takes_value() {
  case "$1" in
${valueFlags(spots)
  .map(
    ({ at, flag }) =>
      `    ${spellings(flag)
        .map((word) => pattern(at, word))
        .join("|")}) return 0 ;;`,
  )
  .join("\n")}
  esac
  return 1
}

_${program}_words() {
  local word
  for word in "$@"; do
    if [[ $word == "$cur"* ]]; then COMPREPLY+=("$word"); fi
  done
}

_${program}_program() {
  local word
  while IFS= read -r word; do
    if [[ $word == "$cur"* ]]; then COMPREPLY+=("$(printf '%q' "$word")"); fi
  done < <(command ${program} __complete "$1" -- "$cur" 2>/dev/null)
}

_${program}_files() {
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
  compopt -o filenames 2>/dev/null
}

_${program}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} at="" word i=1 count=0
  COMPREPLY=()
  if [[ $cur == "=" ]]; then
    cur=""
  elif [[ $prev == "=" ]] && ((COMP_CWORD > 1)); then
    prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  while ((i < COMP_CWORD)); do
    word=\${COMP_WORDS[i]}
    i=$((i + 1))
    if _${program}_takes_value "$at:$word"; then
      if [[ \${COMP_WORDS[i]} == "=" ]]; then i=$((i + 1)); fi
      i=$((i + 1))
      continue
    fi
    case "$at:$word" in
${spots.flatMap(({ at, commands }) => commands.map(({ name }) => `      ${pattern(at, name)}) at=${quotedShellWord(at === "" ? name : `${at} ${name}`)} ;;`)).join("\n")}
      *:-*) ;;
      *) count=$((count + 1)) ;;
    esac
  done
  case "$at:$prev" in
${valueFlags(spots)
  .map(
    ({ at, flag }) =>
      `    ${spellings(flag)
        .map((word) => pattern(at, word))
        .join("|")}) ${offer(program, valuesOf(flag))}; return ;;`,
  )
  .join("\n")}
  esac
  if [[ $cur == -* ]]; then
    case "$at" in
${spots.map((spot) => `      ${quotedShellWord(spot.at)}) _${program}_words ${flagWords(spot)} ;;`).join("\n")}
    esac
    return
  fi
  case "$at" in
${spots
  .filter(({ commands }) => commands.length > 0)
  .map(
    ({ at, commands }) =>
      `    ${quotedShellWord(at)}) _${program}_words ${commands.map(({ name }) => quotedShellWord(name)).join(" ")} ;;`,
  )
  .join("\n")}
  esac
  case "$at:$count" in
${spots.flatMap((spot) => argumentLines(spot, (values) => offer(program, values))).join("\n")}
    *) ;;
  esac
}

complete -F _${program} ${program} overstory
`;
}

const pattern = (at: string | undefined, word: string): string =>
  at === undefined ? `*:${word}` : quotedShellWord(`${at}:${word}`);

const flagWords = ({ flags }: Spot): string =>
  [...flags, ...globalFlags].flatMap(spellings).map(quotedShellWord).join(" ");

function offer(program: string, values: Values): string {
  switch (values.from) {
    case "words":
      return `_${program}_words ${values.words.map(quotedShellWord).join(" ")}`;
    case "files":
      return `_${program}_files`;
    case "program":
      return `_${program}_program ${values.source}`;
    case "free":
      return ":";
  }
}
