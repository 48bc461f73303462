import { matchesGlob } from "../text/glob.ts";
import type { GuardPolicy } from "./policy.ts";
import type { ParseShell, ShellWord } from "./shell/syntax.ts";
import { type Denial, deny } from "./tool-use.ts";

/** What the guard must know of the machine. Asked with absolute paths. */
export interface Places {
  /** Where a path leads when links and `..` are followed as far as it exists. */
  realPath(path: string): string;
  readonly home: string | undefined;
  /** Directories in which everybody may leave things. */
  readonly temporary: readonly string[];
}

/** What the guard asks of the machine. Neither part changes anything. */
export interface GuardMachine {
  readonly parse: ParseShell;
  readonly places: Places;
}

/** An absolute path for what was written; undefined when that is known only once it runs. */
export function absolute(word: ShellWord, cwd: string | undefined, home: string | undefined): string | undefined {
  if (word.dynamic) return undefined;
  if (word.home) {
    const below = /^~(\/.*)?$/.exec(word.text);
    return below === null || home === undefined ? undefined : `${home}${below[1] ?? ""}`;
  }
  return joined(cwd, word.text);
}

/** The same for a path that no shell reads. */
export function joined(cwd: string | undefined, path: string): string | undefined {
  if (path.startsWith("/")) return path;
  return cwd === undefined ? undefined : `${cwd}/${path}`;
}

export const isInside = (path: string, dir: string): boolean =>
  path === dir || path.startsWith(dir === "/" ? dir : `${dir}/`);

const devices = /^\/dev\/(null|stdout|stderr|tty|fd\/\d+)$/;
export const isDevice = (path: string): boolean => devices.test(path);

/** What a role that changes nothing may write all the same. */
export const scratchHint = ({ scratch }: GuardPolicy): string =>
  scratch === null ? "" : "; files to throw away go below $OVERSTORY_SCRATCH";

/** A path below the agent's own directory for files to throw away. */
export function isScratch(path: string, { scratch, state }: GuardPolicy, places: Places): boolean {
  if (scratch === null || !isInside(scratch, state)) return false;
  // A link in the place of the directory, or of one above it in the state directory, would lead elsewhere.
  const own = `${places.realPath(state)}${scratch.slice(state.length)}`;
  const real = places.realPath(path);
  return places.realPath(scratch) === own && real !== own && isInside(real, own);
}

/** May something be written here? The path is absolute. Nothing is said about roles that write nowhere. */
export function checkWrite(path: string, policy: GuardPolicy, places: Places): Denial | undefined {
  if (isDevice(path) || isScratch(path, policy, places)) return undefined;
  const real = places.realPath(path);
  const worktree = places.realPath(policy.worktree);
  // Whatever it is called and wherever it lies: a git directory need not be named `.git`, nor be in the checkout.
  const gitDir = places.realPath(policy.state.slice(0, policy.state.lastIndexOf("/")));
  const isGit = gitDir !== worktree && isInside(real, gitDir);
  if (isInside(real, worktree)) {
    const inside = real.slice(worktree.length + 1);
    return isGit && isInside(gitDir, worktree) ? notYours(inside) : checkSteering(inside, policy);
  }
  const isOthers = isGit || isInside(real, places.realPath(policy.root));
  const isFree = places.temporary.some((dir) => isInside(real, places.realPath(dir)));
  if (isFree && !isOthers) return undefined;
  return deny("boundary", `${real} is outside your worktree ${policy.worktree}; ask your parent for what lies there`);
}

/** Whoever could change what steers it would have no rules. */
function checkSteering(inside: string, policy: GuardPolicy): Denial | undefined {
  const parts = inside.split("/");
  const isSteering =
    parts.includes(".git") ||
    parts[0] === ".overstory" ||
    policy.steering.some((pattern) => matchesGlob(inside, pattern));
  return isSteering ? notYours(inside) : undefined;
}

const notYours = (inside: string): Denial =>
  deny("guard-files", `${inside} steers agents and git; it is not yours to change`);
