import { isSearch, whatIsPrinted } from "./find.ts";
import { hasOption, literal, operands, operandsBeside, type ShellWord } from "./syntax.ts";

/** Which files a pipe hands on, when its first command looks for files and the others only pick among them. */
export function foundFiles(pipe: readonly (readonly ShellWord[])[]): readonly ShellWord[] | undefined {
  const [[program, ...args] = [], ...filters] = pipe;
  if (program === undefined || !filters.every(onlyPicks)) return undefined;
  if (args.some(({ dynamic }) => dynamic)) return undefined;
  switch (program.text) {
    case "find":
      return isSearch(args) ? whatIsPrinted(args) : undefined;
    case "grep":
      return hasOption(args, "lL", "files-with-matches", "files-without-match")
        ? below(args, hasOption(args, "rR", "recursive"))
        : undefined;
    case "rg":
      return hasOption(args, "l", "files-with-matches") ? below(args, true) : undefined;
    case "git":
      return listsFiles(args) ? [literal("x")] : undefined;
    default:
      return undefined;
  }
}

/** Files below the places that a search names behind what it looks for. */
function below(args: readonly ShellWord[], recursive: boolean): readonly ShellWord[] {
  const given = operandsBeside(args, [
    "-e",
    "--include",
    "--exclude",
    "--exclude-dir",
    "-g",
    "--glob",
    "-t",
    "--type",
    "-m",
  ]);
  const places = hasOption(args, "e", "regexp") ? given : given.slice(1);
  const roots = places.length === 0 ? [literal(".")] : places;
  return recursive ? roots.map((root) => ({ ...root, text: `${root.text.replace(/\/+$/, "")}/x` })) : roots;
}

function listsFiles(args: readonly ShellWord[]): boolean {
  const [verb, ...rest] = args;
  if (verb?.text === "ls-files") return true;
  if (verb?.text === "grep") return hasOption(rest, "lL", "files-with-matches", "name-only");
  return verb?.text === "diff" && rest.some(({ text }) => text === "--name-only");
}

/** Does it pass on some of the lines that it reads, unchanged? */
function onlyPicks([program, ...args]: readonly ShellWord[]): boolean {
  switch (program?.text) {
    case "sort":
    case "uniq":
    case "head":
    case "tail":
    case "cat":
      return operandsBeside(args, ["-n", "-k", "-c"]).length === 0 && !hasOption(args, "o", "output");
    case "grep":
      return operands(args).length <= 1 && !hasOption(args, "orfc", "only-matching", "recursive", "file", "count");
    default:
      return false;
  }
}
