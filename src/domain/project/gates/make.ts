import type { FoundCheck, GateKind, ProjectTexts } from "../gate.ts";

/** In the order in which make looks for them. */
export const makefileNames = ["GNUmakefile", "makefile", "Makefile"] as const;

const targets: readonly (readonly [kind: GateKind, target: string])[] = [
  ["tests", "test"],
  ["lint", "lint"],
];

/**
 * Targets that check something nothing else checks: a makefile mostly wraps the commands of the language. `check`
 * usually gathers the others, so it stands alone.
 */
export function makeChecks(texts: ProjectTexts, covered: ReadonlySet<GateKind>): readonly FoundCheck[] {
  const from = makefileNames.find((name) => texts.has(name));
  if (from === undefined) return [];
  const defined = targetsOf(texts.get(from) ?? "");
  const found = targets
    .filter(([kind, target]) => defined.has(target) && !covered.has(kind))
    .map(([kind, target]) => ({ kind, command: `make ${target}`, from }));
  if (found.length === 0 && covered.size === 0 && defined.has("check")) {
    return [{ kind: "checks", command: "make check", from }];
  }
  return found;
}

/** Names before the colon of a rule; `name := value` is a variable, and a recipe starts with a tab. */
function targetsOf(makefile: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const line of makefile.split("\n")) {
    const rule = /^([^\s:=#][^:=#]*?)\s*(?!:{1,3}=)::?/.exec(line)?.[1];
    for (const name of rule?.split(/\s+/) ?? []) names.add(name);
  }
  return names;
}
