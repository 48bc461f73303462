import type { Argument, Command, Flag } from "../command.ts";
import { globalFlags } from "../globals.ts";
import { type Spot, spellings, spotsOf, type Values, valueFlags, valuesOf } from "./spots.ts";

/** The script for fish: one `complete` line per word, each guarded by the place it belongs to. */
export function fishScript(tree: Command): string {
  const spots = spotsOf(tree);
  const program = tree.name;
  const withValue = valueFlags(spots).flatMap(({ at, flag }) => spellings(flag).map((word) => ({ at, word })));
  return `# fish completion for ${program}. Load it with: ${program} completions fish | source

set -g __${program}_places ${spots.map(({ at }) => quotedFish(at)).join(" ")}
set -g __${program}_value_flags ${withValue.map(({ at, word }) => quotedFish(at === undefined ? word : `${at}:${word}`)).join(" ")}

function __${program}_at
    set -l at ""
    set -l count 0
    set -l skip 0
    set -l tokens (commandline -opc)
    for token in $tokens[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- "$at:$token" $__${program}_value_flags; or contains -- $token $__${program}_value_flags
            set skip 1
        else if contains -- (string trim -- "$at $token") $__${program}_places
            set at (string trim -- "$at $token")
        else if not string match -q -- '-*' $token
            set count (math $count + 1)
        end
    end
    echo "$at:$count"
end

function __${program}_in
    string match -q -r -- '^'(string escape --style=regex -- $argv[1])':\\d+$' (__${program}_at)
end

function __${program}_is
    test (__${program}_at) = "$argv[1]"
end

function __${program}_program
    command ${program} __complete $argv[1] -- (commandline -ct) 2>/dev/null
end

complete -c ${program} -f
complete -c overstory -w ${program}

${globalFlags.map((flag) => flagLines(program, undefined, flag)).join("\n")}
${spots.flatMap((spot) => spotLines(program, spot)).join("\n")}
`;
}

const spotLines = (program: string, { at, commands, flags, arguments: args }: Spot): string[] => [
  ...commands.map(
    ({ name, summary }) =>
      `complete -c ${program} -f -n ${quotedFish(`__${program}_is ${quotedFish(`${at}:0`)}`)} -a ${quotedFish(name)} -d ${quotedFish(summary)}`,
  ),
  ...flags.map((flag) => flagLines(program, at, flag)),
  ...args.flatMap((argument, i) => argumentLine(program, at, argument, i)),
];

function flagLines(program: string, at: string | undefined, flag: Flag): string {
  const guard = at === undefined ? "" : ` -n ${quotedFish(`__${program}_in ${quotedFish(at)}`)}`;
  const short = flag.short === undefined ? "" : ` -s ${flag.short}`;
  const values = flag.value === undefined ? "" : ` -r${offer(program, valuesOf(flag))}`;
  const line = (name: string, rest: string): string =>
    `complete -c ${program}${guard}${rest} -l ${name}${values} -d ${quotedFish(flag.summary)}`;
  return flag.negatable === true ? `${line(flag.name, short)}\n${line(`no-${flag.name}`, "")}` : line(flag.name, short);
}

function argumentLine(program: string, at: string, argument: Argument, index: number): string[] {
  const values = valuesOf(argument);
  if (values.from === "free") return [];
  const guard =
    argument.variadic === true
      ? `__${program}_in ${quotedFish(at)}`
      : `__${program}_is ${quotedFish(`${at}:${index}`)}`;
  return [`complete -c ${program} -n ${quotedFish(guard)}${offer(program, values)} -d ${quotedFish(argument.summary)}`];
}

function offer(program: string, values: Values): string {
  switch (values.from) {
    case "words":
      return ` -f -a ${quotedFish(values.words.join(" "))}`;
    case "files":
      return " -F";
    case "program":
      return ` -f -a ${quotedFish(`(__${program}_program ${values.source})`)}`;
    case "free":
      return " -f";
  }
}

const quotedFish = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
