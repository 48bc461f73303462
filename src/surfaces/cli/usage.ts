import { type Description, listed } from "../shared/description.ts";
import { exits } from "../shared/exits.ts";
import type { Command } from "./command.ts";

/** Why a command line cannot be understood. `path` is the command it was read against, the root being empty. */
export type UsageProblem = { readonly path: readonly string[]; readonly nearest?: string } & (
  | { readonly kind: "unknown-command"; readonly word: string }
  | { readonly kind: "missing-subcommand"; readonly available: readonly string[] }
  | { readonly kind: "unknown-flag"; readonly flag: string }
  | { readonly kind: "missing-flag"; readonly flag: string }
  | {
      readonly kind: "missing-value";
      readonly flag: string;
      readonly placeholder: string;
      /** The word that followed, when it was taken for a flag. */
      readonly next?: string;
    }
  | {
      readonly kind: "bad-value";
      /** `--flag` or `<argument>`. */
      readonly field: string;
      readonly value: string;
      /** Completes the sentence "`<field>` ...". */
      readonly problem: string;
      readonly allowed?: readonly string[];
    }
  | { readonly kind: "missing-argument"; readonly argument: string }
  | { readonly kind: "too-many-arguments"; readonly word: string; readonly most: number }
);

/** A usage problem in the shape of every other error: nothing has been run, and the hint says what to type. */
export function describeUsage(tree: Command, problem: UsageProblem): Description {
  const line = [tree.name, ...problem.path].join(" ");
  const { kind, path, ...data } = problem;
  return {
    code: "VALIDATION_ERROR",
    exit: exits.usage,
    retryable: false,
    message: sentence(line, problem),
    hint: hint(line, problem),
    details: { kind, ...data },
  };
}

function sentence(line: string, problem: UsageProblem): string {
  switch (problem.kind) {
    case "unknown-command":
      return isPlanned(problem)
        ? `${line} ${problem.word} is not there yet; nothing was done`
        : `${line} has no command "${problem.word}"`;
    case "missing-subcommand":
      return `${line} needs a command: ${listed(problem.available)}`;
    case "unknown-flag":
      return `${line} has no flag ${problem.flag}`;
    case "missing-flag":
      return `${line} needs ${problem.flag}`;
    case "missing-value":
      return `${problem.flag} needs a value: ${problem.flag} ${problem.placeholder}`;
    case "bad-value":
      return `${problem.field} ${problem.problem} (got "${problem.value}")`;
    case "missing-argument":
      return `${line} needs ${problem.argument}`;
    case "too-many-arguments":
      return `${line} takes ${counted(problem.most)}; "${problem.word}" is one too many`;
  }
}

/** What people will look for and this version does not have. */
const planned = new Set([
  "costs",
  "dashboard",
  "errors",
  "feed",
  "import",
  "inspect",
  "metrics",
  "replay",
  "runtimes",
  "serve",
  "trace",
  "why",
]);

const isPlanned = ({ path, word }: { readonly path: readonly string[]; readonly word: string }): boolean =>
  path.length === 0 && planned.has(word);

function hint(line: string, problem: UsageProblem): string {
  if (problem.kind === "unknown-command" && isPlanned(problem)) return `what is there: ${line} --help`;
  if (problem.kind === "missing-value" && problem.next !== undefined) {
    return `a value that starts with a dash is written with an equals sign: ${problem.flag}=${problem.placeholder}`;
  }
  if (problem.nearest === undefined) return `see: ${line} --help`;
  return problem.kind === "unknown-command"
    ? `did you mean: ${line} ${problem.nearest}`
    : `did you mean ${problem.nearest}? see: ${line} --help`;
}

function counted(most: number): string {
  if (most === 0) return "no arguments";
  return most === 1 ? "one argument" : `${most} arguments`;
}
