import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Command, Flag } from "../src/surfaces/cli/command.ts";

/** A flag of one command, and everything its handler is made of. */
export interface PlacedFlag {
  /** `task create --title`. */
  readonly name: string;
  readonly flag: Flag;
  /** The handler and what it imports from other commands. */
  readonly sources: readonly string[];
}

/** Every flag of every command, with the texts of the files that could handle it. */
export function placedFlags(tree: Command, commandsDir: string): readonly PlacedFlag[] {
  return (tree.commands ?? []).flatMap((top) => {
    const trees = [...importsOf(join(commandsDir, top.name, "tree.ts"))].filter((file) => file.endsWith("/tree.ts"));
    return [...leavesOf(top, [top.name])].flatMap(({ path, command }) => {
      const handler = handlerOf(command, trees);
      const sources = handler === undefined ? [] : [...importsOf(handler)].map((file) => readFileSync(file, "utf8"));
      return (command.flags ?? []).map((flag) => ({ name: `${path.join(" ")} --${flag.name}`, flag, sources }));
    });
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

/** The tree says where the handler is in the one place that loads it. */
function handlerOf({ run }: Command, trees: readonly string[]): string | undefined {
  const path = /import\("(\.[^"]+)"\)/.exec(String(run))?.[1];
  if (path === undefined) return undefined;
  return trees.map((tree) => resolve(dirname(tree), path)).find((file) => existsSync(file));
}

/** A file and what it imports, and so on, as far as that belongs to commands. */
function importsOf(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file) || !existsSync(file)) return found;
  found.add(file);
  for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/from "(\.[^"]+)"/g)) {
    const imported = resolve(dirname(file), path);
    if (imported.includes("/cli/commands/")) importsOf(imported, found);
  }
  return found;
}
