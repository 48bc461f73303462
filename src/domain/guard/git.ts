import { checkChange, isForbiddenToAll, mayAllTheSame, onlyTrackerFiles, takesSides } from "./git-changes.ts";
import { absolute, checkRemoval, checkWrite, isInside, type Places } from "./paths.ts";
import type { GuardPolicy } from "./policy.ts";
import { isReadOnlyCall } from "./read-only-git.ts";
import type { Invocation } from "./shell/invocations.ts";
import { hasOption, isOption, operandsBeside, type ShellWord, valuesOf } from "./shell/syntax.ts";
import { type Denial, deny } from "./tool-use.ts";

/** May git be called so? */
export function checkGit({ args, cwd }: Invocation, policy: GuardPolicy, places: Places): Denial | undefined {
  const call = readGit(args);
  if ("decision" in call) return call;
  const helper = call.args.find(({ text }) => /^(--\w[\w-]*=)?[a-z][\w+.-]*::/i.test(text));
  if (helper !== undefined) return risky(helper.text);
  const planted =
    policy.files === "read-only" ? plantedIn([cwd, ...placesOf(call, cwd, places)], policy, places) : undefined;
  if (planted !== undefined) {
    return deny(
      "git-shared",
      `${planted} is a repository that a branch brought along: its settings can make git run anything`,
    );
  }
  if (isReadOnlyCall(call.command, call.args) || call.args[0]?.text === "--help") return undefined;
  const denied = checkChange(call, policy) ?? checkSides(call, policy, places);
  if (policy.files === "read-only") {
    if (mayAllTheSame(call, policy) && checkPlaces(call.places, cwd, policy, places) === undefined) return undefined;
    if (isForbiddenToAll(denied)) return denied;
    return policy.capability === "coordinator" && ["add", "commit"].includes(call.command)
      ? onlyTrackerFiles
      : deny("read-only", `a ${policy.capability} only looks: log, show, diff, blame, status`);
  }
  if (denied !== undefined) return denied;
  const elsewhere = checkPlaces(call.places, cwd, policy, places);
  if (elsewhere !== undefined) return elsewhere;
  if (call.command === "update-index") return checkIndexed(call.args, cwd, policy, places);
  if (["rm", "mv"].includes(call.command)) return checkRemovals(call, cwd, policy, places);
  return writing.includes(call.command) ? checkOutputs(call.args, cwd, policy, places) : undefined;
}

/** Each `-C` counts from the one before it. */
function placesOf(call: GitCall, cwd: string | undefined, places: Places): readonly (string | undefined)[] {
  let from = cwd;
  return call.places.map((word) => {
    from = absolute(word, from, places.home);
    return from;
  });
}

/**
 * The directory of the worktree, at or above one of these places, that git takes for a repository by what lies in it. No
 * `.git` can be committed, but such a directory can, with its own settings.
 */
function plantedIn(where: readonly (string | undefined)[], policy: GuardPolicy, places: Places): string | undefined {
  const tree = places.realPath(policy.worktree);
  for (const place of where) {
    let dir = place === undefined ? tree : places.realPath(place);
    for (; dir !== tree && isInside(dir, tree); dir = dir.slice(0, dir.lastIndexOf("/"))) {
      if (dir === `${tree}/.git`) break;
      if (places.isDirectory(`${dir}/objects`) && places.isDirectory(`${dir}/refs`)) return dir;
    }
  }
  return undefined;
}

/** The sides of a conflict. Where there is none, the files are taken from the index, and what was not added is gone. */
function checkSides({ command, args }: GitCall, policy: GuardPolicy, places: Places): Denial | undefined {
  if (!takesSides(command, args) || places.isMerging(policy.worktree)) return undefined;
  return deny(
    "git-discard",
    `no merge is half done here, so git ${command} would throw changes away; merge first, in a command of its own`,
  );
}

/** What git removes or moves is gone from the worktree, too. */
function checkRemovals(
  call: GitCall,
  cwd: string | undefined,
  policy: GuardPolicy,
  places: Places,
): Denial | undefined {
  const [from = cwd] = call.places.map((word) => absolute(word, cwd, places.home));
  const words = operandsBeside(call.args, ["--pathspec-from-file"]);
  for (const word of words) {
    const path = absolute({ ...word, text: word.text.replace(/^:\/|^:\(top\)/, "") }, from, places.home);
    if (path === undefined) return unclear;
    const denied = checkWrite(path, policy, places, word) ?? checkRemoval(path, policy, places, word);
    if (denied !== undefined) return denied;
  }
  return undefined;
}

/** What is put into the index is committed without ever having been a file. */
function checkIndexed(
  args: readonly ShellWord[],
  cwd: string | undefined,
  policy: GuardPolicy,
  places: Places,
): Denial | undefined {
  if (hasOption(args, "", "index-info", "stdin"))
    return deny("opaque-code", "which files git would take cannot be seen here; name them");
  for (const word of args.filter((each) => !isOption(each))) {
    const path = absolute({ ...word, text: word.text.replace(/^\d+,[0-9a-f]+,/i, "") }, cwd, places.home);
    const denied = path === undefined ? unclear : checkWrite(path, policy, places, word);
    if (denied !== undefined) return denied;
  }
  return undefined;
}

/** Commands that write files where they are told to. */
const writing = "init clone archive format-patch bundle log diff show merge-file interpret-trailers".split(" ");

function checkPlaces(
  given: readonly ShellWord[],
  cwd: string | undefined,
  policy: GuardPolicy,
  places: Places,
): Denial | undefined {
  const where = given.map((word) => absolute(word, cwd, places.home));
  const elsewhere = deny("git-elsewhere", `change only your own worktree, and name it plainly: ${policy.worktree}`);
  for (const place of [cwd, ...where]) {
    // The repository's own directory is where git writes, not what an agent does.
    if (place === undefined || checkWrite(place.replace(/\/\.git\/?$/, ""), policy, places) !== undefined)
      return elsewhere;
  }
  return undefined;
}

/** Files that git is told to write, wherever their names stand: everything that leads out is looked at. */
function checkOutputs(
  args: readonly ShellWord[],
  cwd: string | undefined,
  policy: GuardPolicy,
  places: Places,
): Denial | undefined {
  for (const word of args) {
    if (word.dynamic) continue;
    const text = isOption(word) ? (/^(?:--[a-z-]+=|-[a-zA-Z])(.+)$/.exec(word.text)?.[1] ?? "") : word.text;
    const leadsOut = word.home || text.startsWith("/") || /(^|\/)\.\.(\/|$)/.test(text);
    if (!leadsOut || /\s/.test(text)) continue;
    const path = absolute({ ...word, text }, cwd, places.home);
    const denied = path === undefined ? undefined : checkWrite(path, policy, places);
    if (denied !== undefined) return denied;
  }
  return undefined;
}

/** One call of git, with its own options set apart from those of the command. */
export interface GitCall {
  /** Empty when git is only asked about itself. */
  readonly command: string;
  readonly args: readonly ShellWord[];
  /** Other places that it is told to work in. */
  readonly places: readonly ShellWord[];
}

/** Git's own options that are followed by a value. */
const valued = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source"];

/** Reads the words after `git`, or says why that cannot be done. */
function readGit(args: readonly ShellWord[]): GitCall | Denial {
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at];
    if (word === undefined || word.dynamic || word.pattern) return unclear;
    if (!isOption(word)) break;
    if (/^--(exec-path=|config-env)/.test(word.text)) return risky(word.text);
    if (word.text === "-c" && isRiskySetting(args[at + 1])) return risky(`-c ${args[at + 1]?.text}`);
    if (valued.includes(word.text)) at++;
  }
  const own = args.slice(0, at);
  return {
    command: args[at]?.text ?? "",
    args: args.slice(at + 1),
    places: valuesOf(own, "-C", "--git-dir", "--work-tree"),
  };
}

const unclear = deny("dynamic", "which git command this is cannot be told; write it out");

const risky = (what: string): Denial => deny("git-shared", `git ${what} can make git run anything; leave it out`);

/** Settings by which git runs programs, gives commands other names, moves branches on the way, or leaves out hooks. */
const riskySetting =
  /^(alias\.|include|url\.|core\.(hookspath|fsmonitor|worktree|pager|gitproxy|attributesfile|askpass)|init\.templatedir|pager\.|protocol\.|remote\.|rebase\.updaterefs|submodule\..*update|interactive\.difffilter)|(editor|cmd|command|hook|helper|textconv|external|driver|process|clean|smudge|program|uploadpack|receivepack)=/i;

const isRiskySetting = (word: ShellWord | undefined): boolean =>
  word === undefined || word.dynamic || (riskySetting.test(word.text) && !idle.test(word.text));

/** Programs that only pass on what they are given, or do nothing. */
const idle = /^([\w.]*(pager|editor)|pager\.\w+|core\.fsmonitor)=(cat|less|true|:|false)?$/i;
