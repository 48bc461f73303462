/**
 * Agents' branches that texts name, in order of first mention. What an agent was given to review or to join stands in
 * the words of its assignment.
 */
export function branchesIn(texts: readonly (string | null)[]): readonly string[] {
  const found = texts.flatMap((text) => [...(text ?? "").matchAll(agentBranch)].map(([branch]) => trimmed(branch)));
  return [...new Set(found)];
}

const agentBranch = /\boverstory\/(?!integration\/)[a-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*/g;

/** A sentence may end behind a name. */
const trimmed = (branch: string): string => branch.replace(/[.-]+$/, "");
