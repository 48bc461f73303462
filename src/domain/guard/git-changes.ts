import type { GitCall } from "./git.ts";
import type { GuardPolicy } from "./policy.ts";
import { hasOption, isOption, operands, operandsBeside, type ShellWord, valuesOf } from "./shell/syntax.ts";
import { type Denial, deny } from "./tool-use.ts";

/** May an agent that writes files use this git command so? Only for calls that change something. */
export function checkChange({ command, args }: GitCall, policy: GuardPolicy): Denial | undefined {
  const check = Object.hasOwn(changes, command) ? changes[command] : undefined;
  if (check !== undefined) return check(args, policy);
  return deny("git-unknown", `git ${command} is no command that agents have; write out what an alias stands for`);
}

/**
 * What a role that changes nothing may do all the same. Looking at what others pushed moves no branch of ours. A coordinator
 * commits the files of its tracker in the project's checkout, by their names: everything else there is the user's own work.
 */
export function mayAllTheSame({ command, args }: GitCall, { capability }: GuardPolicy): boolean {
  if (command === "fetch") return args.every(isPlainFetch);
  return capability === "coordinator" && commitsTracker(command, args);
}

function commitsTracker(command: string, args: readonly ShellWord[]): boolean {
  const end = args.findIndex(({ text }) => text === "--");
  const before = end < 0 ? args : args.slice(0, end);
  const files = operandsBeside(args, ["-m", "-qm", "--message"]);
  if (files.length === 0 || !files.every(isTracker)) return false;
  if (command === "add") return before.every((word) => !isOption(word) || /^(-v|--verbose)$/.test(word.text));
  const says = before.some(({ text }) => /^(-q?m|--message(=|$))/.test(text));
  const plain = /^(-q?m|-[qo]|--quiet|--only|--message(=.*)?)$/;
  return command === "commit" && says && before.every((word) => !isOption(word) || plain.test(word.text));
}

/** Said to a coordinator that would commit more than its tracker's files. */
export const onlyTrackerFiles = deny(
  "read-only",
  "what else lies in this checkout is the user's; commit the tracker's files alone, by name: git add .seeds/issues.jsonl && git commit -m <text> -- .seeds/issues.jsonl (or .beads)",
);

const isPlainFetch = ({ text, dynamic, pattern }: ShellWord): boolean =>
  !dynamic &&
  !pattern &&
  /^(-[qvptk]+|--(all|tags|quiet|verbose|dry-run|prune)|(?!-)[\w./-]+)$/.test(text) &&
  !text.includes("..") &&
  !/^[./]/.test(text);

const isTracker = ({ text, dynamic, pattern }: ShellWord): boolean =>
  !dynamic && !pattern && /^(\.\/)?\.(seeds|beads)(\/|$)/.test(text) && !text.includes("..");

/** A denial that holds for every role: its reason says more than that a role only reads. */
export const isForbiddenToAll = (denial: Denial | undefined): denial is Denial =>
  denial !== undefined && denial.rule !== "git-unknown" && denial.rule !== "dynamic";

/** Why an agent may not call a command of git with these words; undefined when it may. */
type Check = (args: readonly ShellWord[], policy: GuardPolicy) => Denial | undefined;

const allowed: Check = () => undefined;
const never =
  (denial: Denial): Check =>
  () =>
    denial;

/** For commands whose options decide: a word that becomes something else once it runs might be any of them. */
const onlyPlainWords =
  (check: Check): Check =>
  (args, policy) =>
    args.some(isUnclear)
      ? deny("dynamic", "what git would do here cannot be told; write its words out")
      : check(args, policy);

const isUnclear = ({ dynamic, pattern, text }: ShellWord): boolean =>
  dynamic || (pattern && (text.startsWith("-") || text.includes("{")));

const shared = deny(
  "git-shared",
  "refs, settings and worktrees are shared by everybody here; commit on your own branch instead",
);

const discards = deny(
  "git-discard",
  "this throws work away that nobody could bring back; take a change back file by file, with git show HEAD:<file> > <file> or git diff -- <file> | git apply -R",
);

const runsCode = deny("opaque-code", "git would run commands here that cannot be seen; run them one by one");

const notYourBranch = (policy: GuardPolicy): Denial => deny("git-branch", stayOn(policy));

const stayOn = (policy: GuardPolicy): string =>
  `stay on your own branch; others you may make are called ${ownPrefix(policy)}<name>`;

/** One word behind `git checkout` names a branch or a file. */
const branchOrFile = (policy: GuardPolicy): Denial =>
  deny("git-branch", `${stayOn(policy)}; a change of a file is taken back with git show HEAD:<file> > <file>`);

const ownPrefix = ({ agent }: GuardPolicy): string => `overstory/${agent}/`;

/** Is this, as far as its name tells, a branch of the agent itself? */
const isOwnBranch = (word: ShellWord | undefined, policy: GuardPolicy): boolean =>
  word !== undefined && !word.dynamic && !word.pattern && word.text.startsWith(ownPrefix(policy));

const checkout: Check = (args, policy) => {
  if (hasOption(args, "Bfdtp", "force", "orphan", "detach", "track", "patch")) return discards;
  const created = valuesOf(args, "-b");
  if (created.length > 0) return created.every((name) => isOwnBranch(name, policy)) ? undefined : notYourBranch(policy);
  // With one word these carry the changes over to another branch.
  if (hasOption(args, "m", "merge", "conflict")) return namesFiles(args) ? undefined : sides;
  const words = operands(args);
  // Git itself refuses them with the name of a branch, but not with that of a commit before those of files.
  if (hasOption(args, "23", "ours", "theirs")) return words.length === 1 || namesFiles(args) ? undefined : sides;
  const switches = words.length === 1 && !args.some(({ text }) => text === "--");
  if (switches && isOwnBranch(words[0], policy)) return undefined;
  return switches && words[0]?.text !== "." ? branchOrFile(policy) : discards;
};

/** Does it take a side of a conflict, or lay the conflict out anew? */
export const takesSides = (command: string, args: readonly ShellWord[]): boolean =>
  ["checkout", "restore"].includes(command) && hasOption(args, "23m", "ours", "theirs", "merge", "conflict");

/** Only files can be meant: every word stands behind `--`. */
function namesFiles(args: readonly ShellWord[]): boolean {
  const end = args.findIndex(({ text }) => text === "--");
  return end >= 0 && end < args.length - 1 && args.slice(0, end).every(isOption);
}

const sides = deny(
  "git-branch",
  "this could leave your branch; to settle a conflict name files alone, as in: git checkout --ours -- <file>",
);

const switching: Check = (args, policy) => {
  if (hasOption(args, "Cfdt", "force-create", "force", "discard-changes", "orphan", "detach", "track"))
    return notYourBranch(policy);
  const created = valuesOf(args, "-c", "--create");
  // An abbreviated option hides the name behind it.
  if (created.length === 0 && hasOption(args, "", "create")) return notYourBranch(policy);
  return isOwnBranch(created[0] ?? operands(args)[0], policy) ? undefined : notYourBranch(policy);
};

const restore: Check = (args) => {
  const onlyIndex = hasOption(args, "S", "staged") && !hasOption(args, "W", "worktree");
  return onlyIndex || hasOption(args, "23", "ours", "theirs") ? undefined : discards;
};

/** A branch of its own may be made; lists were let through before. */
const branch: Check = (args, policy) => {
  const plain = args.every((word) => !isOption(word) || harmless.includes(word.text));
  return plain && isOwnBranch(operands(args)[0], policy) ? undefined : notYourBranch(policy);
};

const harmless = ["-q", "--quiet", "--no-track", "--create-reflog"];

/**
 * A builder whose branch could not be merged takes in what landed; an agent that writes no files has no branch for it.
 */
const onlyWriters =
  (check: Check): Check =>
  (args, policy) =>
    policy.files === "scoped-write" || endsIt(args) ? check(args, policy) : leaveToMergeQueue;

/** What a builder handed over must stay as it was seen: its history is not rewritten, others' is not brought along. */
const onlyMergers =
  (check: Check): Check =>
  (args, policy) =>
    policy.capability === "merger" || endsIt(args) ? check(args, policy) : leaveToMergeQueue;

const leaveToMergeQueue = deny(
  "git-merge",
  "the merge queue joins your branch with what landed; if you cannot go on without it, ask your parent: ov mail send --type question",
);

/** Ending a half-done git operation is always allowed. */
const endsIt = (args: readonly ShellWord[]): boolean =>
  args.length > 0 && args.every(({ text }) => ["--abort", "--continue", "--quit", "--skip"].includes(text));

const pull = never(leaveToMergeQueue);

/** The branch of the worktree alone: a second word names another one, which would be moved. */
const rebase: Check = (args, policy) => {
  if (hasOption(args, "x", "exec")) return runsCode;
  if (hasOption(args, "", "update-refs")) return shared;
  const words = operandsBeside(args, ["--onto", "-s", "--strategy", "-X", "--strategy-option"]);
  const own = hasOption(args, "", "root") ? 0 : 1;
  return words.length <= own ? undefined : notYourBranch(policy);
};

/** Options that cut the history of the repository, or change where it is cut. */
const shortening = ["depth", "deepen", "shallow-since", "shallow-exclude", "unshallow", "update-shallow", "filter"];

/** Names on this side of a colon would be moved, and so would what the other options say. */
const fetch: Check = (args) => {
  if (hasOption(args, "", "upload-pack")) return runsCode;
  if (hasOption(args, "", ...shortening)) {
    return deny(
      "git-shared",
      "fetch whole histories: all worktrees share the list of commits that a shorter one ends at",
    );
  }
  const words = operands(args).slice(1);
  const writes = hasOption(args, "", "refmap", "stdin", "set-upstream") || words.some(({ text }) => text.includes(":"));
  return writes ? deny("git-shared", "fetch without naming a branch of ours to write to") : undefined;
};

const stash = never(
  deny(
    "git-shared",
    "all worktrees have one stash, from which another agent may take your work, or you theirs; commit what you want to keep, or put it aside with git diff > /tmp/<name>.patch",
  ),
);

/** Each step of a search checks another commit out. Only the way out of one is open, and what it tells of itself. */
const bisect: Check = (args, policy) => {
  const [verb, ...rest] = operands(args);
  if (verb?.text === "run") return runsCode;
  const ends = verb?.text === "reset" && rest.length === 0;
  return ends || ["terms", "help"].includes(verb?.text ?? "") ? undefined : searches(policy);
};

const searches = ({ agent }: GuardPolicy): Denial =>
  deny(
    "git-branch",
    `git bisect checks other commits out in your worktree; look with git log -S and git show, or try a commit in a clone of your own: git clone -q . \${TMPDIR:-/tmp}/${agent}-bisect`,
  );

/** Of large files only what stays in the worktree, or comes from elsewhere. */
const lfs: Check = ([verb]) => (localLfs.includes(verb?.text ?? "") ? undefined : shared);

const localLfs =
  "track untrack ls-files status env version pointer fetch pull checkout fsck logs smudge clean filter-process".split(
    " ",
  );

/** The user's own submodules share their settings, and what is not committed in one is nowhere else. */
const submodule: Check = (args) => {
  const verb = operands(args)[0]?.text ?? "";
  if (verb === "foreach") return runsCode;
  if (verb === "deinit" || (verb === "update" && hasOption(args, "f", "force"))) return discards;
  return /^(sync|set-url|set-branch|absorbgitdirs)$/.test(verb) ? shared : undefined;
};

const elsewhere = deny("git-elsewhere", "a patch may change files of your own worktree only; leave --unsafe-paths out");

const push = never(
  deny(
    "git-push",
    "branches leave this machine by the operator alone; commit, then finish with: ov done --summary <what>",
  ),
);
const ofAllWorktrees = never(shared);

/** How each command of git that changes something is judged. It stands last because its checks must be there first. */
const changes: Readonly<Record<string, Check>> = {
  push,
  "send-pack": push,
  "http-push": push,
  "update-ref": ofAllWorktrees,
  "symbolic-ref": onlyPlainWords((args) =>
    operands(args).length === 1 && !hasOption(args, "dm", "delete") ? undefined : shared,
  ),
  "filter-branch": ofAllWorktrees,
  "filter-repo": ofAllWorktrees,
  replace: ofAllWorktrees,
  worktree: ofAllWorktrees,
  config: never(
    deny("git-shared", "settings are shared by all worktrees; for one call alone: git -c <name>=<value> <command>"),
  ),
  remote: ofAllWorktrees,
  tag: ofAllWorktrees,
  notes: ofAllWorktrees,
  gc: ofAllWorktrees,
  prune: ofAllWorktrees,
  reflog: ofAllWorktrees,
  // Switches a setting of the whole repository on.
  "sparse-checkout": ofAllWorktrees,
  stash,
  pull,
  merge: onlyWriters(allowed),
  rebase: onlyMergers(onlyPlainWords(rebase)),
  checkout: onlyPlainWords(checkout),
  switch: onlyPlainWords(switching),
  restore: onlyPlainWords(restore),
  branch: onlyPlainWords(branch),
  fetch: onlyPlainWords(fetch),
  reset: onlyPlainWords((args) => (hasOption(args, "", "hard", "merge", "keep") ? discards : undefined)),
  clean: onlyPlainWords((args) =>
    hasOption(args, "n", "dry-run") && !hasOption(args, "f", "force") ? undefined : discards,
  ),
  bisect: onlyPlainWords(bisect),
  lfs: onlyPlainWords(lfs),
  submodule: onlyPlainWords(submodule),
  add: allowed,
  commit: allowed,
  rm: allowed,
  mv: allowed,
  "cherry-pick": allowed,
  revert: allowed,
  am: allowed,
  apply: onlyPlainWords((args) =>
    hasOption(args, "", "unsafe-paths") ||
    valuesOf(args, "--directory").some(({ text }) => /^[/~]|(^|\/)\.\.(\/|$)/.test(text))
      ? elsewhere
      : undefined,
  ),
  rerere: allowed,
  "update-index": allowed,
  "hash-object": allowed,
  "merge-file": allowed,
  "merge-tree": allowed,
  "interpret-trailers": allowed,
  log: allowed,
  diff: allowed,
  show: allowed,
  init: onlyPlainWords((args) => (hasOption(args, "", "separate-git-dir", "template", "shared") ? shared : undefined)),
  clone: onlyPlainWords((args) =>
    hasOption(args, "uc", "upload-pack", "config", "template", "separate-git-dir") ? runsCode : undefined,
  ),
  archive: (args) => (hasOption(args, "", "exec", "remote") ? runsCode : undefined),
  "format-patch": allowed,
  bundle: allowed,
};
