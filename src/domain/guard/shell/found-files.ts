import { findRoots, isSearch, whatIsPrinted } from "./find.ts";
import type { KnownValues } from "./known-values.ts";
import {
  hasOption,
  literal,
  operands,
  operandsBeside,
  type ShellAssignment,
  type ShellWord,
  valuesOf,
} from "./syntax.ts";

/** Which files a pipe hands on, when its first command looks for files and the others only pick among them. */
export function foundFiles(pipe: readonly (readonly ShellWord[])[]): readonly ShellWord[] | undefined {
  const [[program, ...args] = [], ...filters] = pipe;
  if (program === undefined || !filters.every(onlyPicks)) return undefined;
  if (args.some(({ dynamic }) => dynamic)) return undefined;
  const isPicked = filters.some(picksByName);
  switch (program.text) {
    case "find": {
      const roots = isPicked ? findRoots(args).map(({ text }) => text) : [];
      return isSearch(args)
        ? whatIsPrinted(args).map((word) => (roots.includes(word.text) ? within(word) : word))
        : undefined;
    }
    case "grep":
      return hasOption(args, "lL", "files-with-matches", "files-without-match")
        ? below(args, hasOption(args, "rR", "recursive"))
        : undefined;
    case "ls":
      return listed(args);
    case "rg":
      if (args.some(({ text }) => text === "--files")) return ofRg(args, isPicked);
      return hasOption(args, "l", "files-with-matches") ? below(args, true) : undefined;
    case "git":
      return listsFiles(args) ? [literal(isPicked || !listsAll(args) ? "x" : ".")] : undefined;
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
  return recursive ? roots.map(within) : roots;
}

/** Something below it. */
const within = (root: ShellWord): ShellWord => ({ ...root, text: `${root.text.replace(/\/+$/, "")}/x` });

/** `ls` of files that are named, by a pattern or by their endings. Of a directory it would print names without it. */
function listed(args: readonly ShellWord[]): readonly ShellWord[] | undefined {
  const files = operands(args);
  const isPlain = args.every((word) => files.includes(word) || /^-[1trSdU]+$/.test(word.text));
  return isPlain && files.length > 0 && files.every(({ text }) => /[^./]\.\w+$/.test(text)) ? files : undefined;
}

function ofRg(args: readonly ShellWord[], isPicked: boolean): readonly ShellWord[] {
  const places = operandsBeside(args, ["-g", "--glob", "--iglob", "-t", "--type", "-T", "--type-not"]);
  const roots = places.length === 0 ? [literal(".")] : places;
  const names = valuesOf(args, "-g", "--glob", "--iglob", "-t", "--type");
  return isPicked || names.some(({ text }) => /^[^!].*\w/.test(text)) ? roots.map(within) : roots;
}

/** Does it list all that there is, with no path that picks? */
const listsAll = ([verb, ...rest]: readonly ShellWord[]): boolean =>
  verb?.text === "ls-files" &&
  !hasOption(rest, "dmku", "deleted", "modified", "killed", "unmerged") &&
  operandsBeside(rest, ["-x", "-X", "--exclude", "--exclude-from"]).every(({ text }) =>
    /^(\.\/?|:\/?|\*+)$/.test(text),
  );

/** Does it pass on only lines with a text that not every path has? */
function picksByName([program, ...args]: readonly ShellWord[]): boolean {
  if (program?.text !== "grep" || hasOption(args, "v", "invert-match")) return false;
  return operands(args).some(({ text, dynamic }) => !dynamic && /\w{2}/.test(text.replaceAll(/\\\w|\[[^\]]*\]/g, ".")));
}

/** A loop over what a search prints goes over files that it found. */
export const ofLoop = (assignments: readonly ShellAssignment[], known: KnownValues): readonly ShellAssignment[] =>
  assignments.flatMap((each) => {
    const pipe = each.found?.map(({ words }) => words.flatMap((word) => known.resolve(word)));
    const files = pipe === undefined ? undefined : foundFiles(pipe);
    return files === undefined ? [each] : files.map((value) => ({ name: each.name, value }));
  });

/** The words of a command, with the files that a search among them prints. What a wrapper gets may be a program. */
export const withFound = (words: readonly ShellWord[], known: KnownValues): readonly ShellWord[] =>
  words.flatMap((word, at) => {
    const runs = at < 2 && takesPrograms.test(words[0]?.text.replace(/^.*\//, "") ?? "");
    if (word.found === undefined || at === 0 || runs) return [word];
    return foundFiles(word.found.map((each) => each.words.flatMap((one) => known.resolve(one)))) ?? [word];
  });

const takesPrograms = /^(git|env|command|exec|eval|xargs|nohup|nice|time|timeout|sudo|.*sh)$/;

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
