import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Command, Flag } from "../src/surfaces/cli/command.ts";

/** A flag of one command, and everything its handler is made of. */
export interface PlacedFlag {
  /** `task create --title`. */
  readonly name: string;
  readonly flag: Flag;
  /** The handler, and the functions and constants that it uses in the files of the commands. */
  readonly sources: readonly string[];
}

/** Every flag of every command, with the texts that could handle it. */
export function placedFlags(tree: Command, commandsDir: string): readonly PlacedFlag[] {
  return (tree.commands ?? [])
    .flatMap((top) => [...leavesOf(top, [top.name])])
    .flatMap(({ path, command }) => {
      const sources = handlerTexts(command, commandsDir);
      return (command.flags ?? []).map((flag) => ({ name: `${path.join(" ")} --${flag.name}`, flag, sources }));
    });
}

/** Does a handler look at the flag by its name? */
export function isHandled({ flag, sources }: PlacedFlag): boolean {
  const { name } = flag;
  const dotted = new RegExp(`\\bflags\\.${name.replaceAll("-", "_")}\\b`);
  const taken = new RegExp(`\\{[^{}]*\\b${name}\\b[^{}]*\\}(?:\\s*=\\s*flags\\b)`);
  return sources.some((text) => text.includes(`flags["${name}"]`) || dotted.test(text) || taken.test(text));
}

function* leavesOf(
  command: Command,
  path: readonly string[],
): Generator<{ readonly path: readonly string[]; readonly command: Command }> {
  if (command.run !== undefined) yield { path, command };
  for (const child of command.commands ?? []) yield* leavesOf(child, [...path, child.name]);
}

/** The tree names file and function in the one place that loads the handler. */
function handlerTexts({ run }: Command, commandsDir: string): readonly string[] {
  const loaded = /import\("\.\.\/commands\/([^"]+)"\)\)\.(\w+)/.exec(String(run));
  if (loaded === null) return [];
  const [, file = "", name = ""] = loaded;
  return [...reached(join(commandsDir, file), name)].map(([, text]) => text);
}

/** One declaration of a file and all declarations of command files that it mentions, and so on. */
function reached(file: string, name: string, found = new Map<string, string>()): ReadonlyMap<string, string> {
  const { declared, imported } = partsOf(file);
  const text = declared.get(name);
  const key = `${file} ${name}`;
  if (text === undefined || found.has(key)) return found;
  found.set(key, text);
  for (const [word] of text.matchAll(/(?<!(?<!\.)\.|\w)[A-Za-z]\w*/g)) {
    const from = imported.get(word);
    reached(from?.file ?? file, from?.name ?? word, found);
  }
  return found;
}

interface Parts {
  /** The text of each declaration at the top level, by its name. */
  readonly declared: ReadonlyMap<string, string>;
  /** What comes from other files of commands, by the name it has here. */
  readonly imported: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
}

const known = new Map<string, Parts>();

function partsOf(file: string): Parts {
  const before = known.get(file);
  if (before !== undefined) return before;
  const text = readFileSync(file, "utf8").replaceAll(/\/\*\*[\s\S]*?\*\//g, "");
  const starts = [...text.matchAll(/^(?:export )?(?:async )?(?:function|const|class|interface|type) (\w+)/gm)];
  const declared = starts.map(({ 1: name = "", index }, at) => {
    return [name, text.slice(index, starts[at + 1]?.index)] as const;
  });
  const imported = [...text.matchAll(/^import (?:type )?\{([^}]*)\} from "(\.[^"]+)"/gm)].flatMap(
    ([, names = "", path = ""]) => {
      const from = resolve(dirname(file), path);
      if (!from.includes("/cli/commands/")) return [];
      return names.split(",").map((one) => {
        const [name = "", here = name] = one
          .trim()
          .replace(/^type /, "")
          .split(" as ");
        return [here, { file: from, name }] as const;
      });
    },
  );
  const parts = { declared: new Map(declared), imported: new Map(imported) };
  known.set(file, parts);
  return parts;
}
