import type { GuardPolicy } from "./policy.ts";
import type { ParseShell, ShellWord } from "./shell/syntax.ts";
import { alternatives, holdsSteering, isSteeringFile, steeringMatches } from "./steering-files.ts";
import { type Denial, deny } from "./tool-use.ts";

/** What the guard must know of the machine. Asked with absolute paths. */
export interface Places {
  /** Where a path leads when links and `..` are followed as far as it exists. */
  realPath(path: string): string;
  isDirectory(path: string): boolean;
  /** Is a merge, a rebase or their like half done in this worktree? */
  isMerging(worktree: string): boolean;
  readonly home: string | undefined;
  /** Directories in which every process may leave files. */
  readonly temporary: readonly string[];
}

/** What the guard asks of the machine. Neither part changes anything. */
export interface GuardMachine {
  readonly parse: ParseShell;
  readonly places: Places;
}

/** The same places, with each path looked up once. Only for as long as one decision takes: links may change afterwards. */
export function lookedUpOnce(places: Places): Places {
  const known = new Map<string, string>();
  const realPath = (path: string): string => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const real = places.realPath(path);
    known.set(path, real);
    return real;
  };
  return { ...places, realPath };
}

/** An absolute path for what was written; undefined when that is known only once it runs. */
export function absolute(word: ShellWord, cwd: string | undefined, home: string | undefined): string | undefined {
  if (word.dynamic) {
    // The shell itself sets it. A line that sets it otherwise is denied.
    const here = /^(?:\$(?:PWD|\{PWD\}|\(pwd\))|`pwd`)(\/[^$`{}]*)?$/.exec(word.text);
    return here === null || cwd === undefined ? undefined : `${cwd}${here[1] ?? ""}`;
  }
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

/** What is known of a path beside its text. */
interface PathKind {
  /** A pattern stands in it: it may become the names of several files. */
  readonly pattern?: boolean;
  /** It is not taken away, but may be of no use any more. */
  readonly stays?: boolean;
}

function firstDenied(paths: readonly string[], check: (path: string) => Denial | undefined): Denial | undefined {
  for (const path of paths) {
    const denied = check(path);
    if (denied !== undefined) return denied;
  }
  return undefined;
}

/** May something be written here? The path is absolute. Nothing is said about roles that write nowhere. */
export function checkWrite(
  path: string,
  policy: GuardPolicy,
  places: Places,
  { pattern = false }: PathKind = {},
): Denial | undefined {
  return firstDenied(pattern ? alternatives(path) : [path], (each) => checkPath(each, policy, places, pattern));
}

function checkPath(path: string, policy: GuardPolicy, places: Places, pattern: boolean): Denial | undefined {
  if (isDevice(path) || isScratch(path, policy, places)) return undefined;
  const real = places.realPath(path);
  const worktree = places.realPath(policy.worktree);
  // Whatever it is called and wherever it lies: a git directory need not be named `.git`, nor be in the checkout.
  const gitDir = places.realPath(policy.state.slice(0, policy.state.lastIndexOf("/")));
  const isGit = gitDir !== worktree && isInside(real, gitDir);
  if (isInside(real, worktree)) {
    const inside = real.slice(worktree.length + 1);
    return isGit && isInside(gitDir, worktree) ? notYours(inside) : checkSteering(inside, policy, pattern);
  }
  const isOthers = isGit || isInside(real, places.realPath(policy.root));
  const isFree = places.temporary.some((dir) => isInside(real, places.realPath(dir)));
  if (isFree && !isOthers) return undefined;
  return deny("boundary", `${real} is outside your worktree ${policy.worktree}; ask your parent for what lies there`);
}

/** May it be removed, or moved away, with everything in it? Only for what may be written to. */
export function checkRemoval(
  path: string,
  policy: GuardPolicy,
  places: Places,
  kind: PathKind = {},
): Denial | undefined {
  return firstDenied(kind.pattern === true ? alternatives(path) : [path], (each) =>
    checkGone(each, policy, places, kind),
  );
}

function checkGone(
  path: string,
  policy: GuardPolicy,
  places: Places,
  { pattern = false, stays = false }: PathKind,
): Denial | undefined {
  if (isDevice(path)) return undefined;
  const real = places.realPath(path);
  const name = real.slice(real.lastIndexOf("/") + 1);
  const removesAll = pattern && meansAll.test(name);
  const gone = removesAll ? real.slice(0, -name.length - 1) || "/" : real;
  const kept = [policy.worktree, policy.root, policy.state, places.home ?? "", ...places.temporary];
  const own = places.realPath(policy.worktree);
  const lost = kept.find((place) => place !== "" && isInside(places.realPath(place), gone));
  if (lost !== undefined && !(stays && gone === own)) {
    const what = lost === policy.worktree ? "your whole worktree" : `${lost} and everything in it`;
    return deny("removal", `this would ${stays ? "change" : "remove"} ${what}; name what you mean, below it`);
  }
  const inside = isInside(real, own) ? real.slice(own.length + 1) : "";
  return holdsSteering(inside) ? notYours(inside) : undefined;
}

/** All names that there are, or all that begin with a dot. */
const meansAll = /^([.*?]|\{[.*?,]+\})*\*([.*?]|\{[.*?,]+\})*$|^\{[.*?,]+\}$/;

/** An agent that could change its own steering files would have no rules. */
function checkSteering(inside: string, { steering }: GuardPolicy, pattern: boolean): Denial | undefined {
  if (isSteeringFile(inside, steering)) return notYours(inside);
  const [match] = pattern ? steeringMatches(inside) : [];
  return match === undefined ? undefined : notYours(match);
}

const notYours = (inside: string): Denial =>
  deny("guard-files", `${inside} steers agents and git; it is not yours to change`);
