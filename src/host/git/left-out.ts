import { matchesGlob } from "../../domain/text/glob.ts";
import type { Yard } from "./yard.ts";

/** Which paths of a worktree are not its agent's work: what was copied into it, and what we put there ourselves. */
export function leftOut({ include, deployed }: Pick<Yard, "include" | "deployed">): (path: string) => boolean {
  const rules = [...include, ...deployed].map((pattern) => rule(pattern));
  return (path) => rules.some((matches) => matches(path));
}

/** A path, a directory with everything in it, or a glob. */
function rule(pattern: string): (path: string) => boolean {
  const plain = pattern.replace(/\/+$/, "");
  return (path) => path.startsWith(`${plain}/`) || matchesGlob(path, plain);
}
