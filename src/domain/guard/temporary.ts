import type { Places } from "./means.ts";
import type { Invocation } from "./shell/invocations.ts";
import type { ShellWord } from "./shell/tree.ts";
import { variablesSet } from "./shell/variables.ts";

interface TemporaryTerms {
  /** Nothing is taken away there: then it may be risked that the variable is empty. */
  readonly adds: boolean;
  readonly invocations: readonly Invocation[];
  readonly places: Places;
}

/** Where a path leads that begins with the variable of temporary directories; none when that cannot be told either. */
export function temporaryPaths(word: ShellWord, { adds, invocations, places }: TemporaryTerms): readonly string[] {
  const [, variable, below = ""] =
    /^(\$TMPDIR|\$\{TMPDIR\}|\$\{TMPDIR:-\/tmp\})\/([\w.+@%=,/-]+)$/.exec(word.text) ?? [];
  if (variable === undefined || below.split("/").includes("..") || invocations.some(setsIt)) return [];
  const hasDefault = variable.includes(":-");
  return hasDefault || adds ? places.temporary.map((dir) => `${dir}/${below}`) : [];
}

const setsIt = ({ name, args, assignments }: Invocation): boolean =>
  assignments.some((each) => each.name === "TMPDIR") || variablesSet(name, args).some(({ text }) => text === "TMPDIR");
