import type { GuardPolicy } from "../policy.ts";
import { hasOption, operands, valuesOf } from "../shell/options.ts";
import type { ShellWord } from "../shell/tree.ts";
import { type Denial, deny } from "../verdict.ts";
import type { GitCall } from "./call.ts";

type Check = (args: readonly ShellWord[], policy: GuardPolicy) => Denial | undefined;

const fine: Check = () => undefined;
const never =
  (denial: Denial): Check =>
  () =>
    denial;

const push = never(
  deny(
    "git-push",
    "branches leave this machine by the operator alone; commit, then finish with: ov done --summary <what>",
  ),
);
const shared = never(
  deny("git-shared", "refs, settings and worktrees are shared by everybody here; commit on your own branch instead"),
);
const discards = deny("git-discard", "this throws work away that nobody could bring back; edit the files, or commit");
const others = (policy: GuardPolicy): Denial =>
  deny("git-branch", `stay on your own branch; others you may make are called ${own(policy)}<name>`);
const runsCode = deny("opaque-code", "git would run commands here that cannot be seen; run them one by one");

const own = ({ agent }: GuardPolicy): string => `overstory/${agent}/`;
const isOwn = (word: ShellWord | undefined, policy: GuardPolicy): boolean =>
  word?.dynamic === false && word.text.startsWith(own(policy));

/** A dynamic word might be any option. */
const plainly =
  (check: Check): Check =>
  (args, policy) =>
    args.some(({ dynamic }) => dynamic)
      ? deny("dynamic", "what git would do here cannot be told; write its words out")
      : check(args, policy);

const checkout: Check = (args, policy) => {
  const created = valuesOf(args, "-b");
  if (hasOption(args, "Bfdtp", "force", "orphan", "detach", "track", "patch")) return discards;
  if (created.length > 0) return created.every((name) => isOwn(name, policy)) ? undefined : others(policy);
  // Choosing a side of a conflict.
  if (hasOption(args, "m", "ours", "theirs", "merge", "conflict")) return undefined;
  const words = operands(args);
  const switches = words.length === 1 && !args.some(({ text }) => text === "--");
  if (switches && isOwn(words[0], policy)) return undefined;
  return switches && words[0]?.text !== "." ? others(policy) : discards;
};

const switching: Check = (args, policy) => {
  if (hasOption(args, "Cfdt", "force-create", "force", "discard-changes", "orphan", "detach", "track"))
    return others(policy);
  const created = valuesOf(args, "-c", "--create");
  return (created[0] ?? operands(args)[0]) !== undefined && isOwn(created[0] ?? operands(args)[0], policy)
    ? undefined
    : others(policy);
};

const restore: Check = (args) => {
  const onlyIndex = hasOption(args, "S", "staged") && !hasOption(args, "W", "worktree");
  return onlyIndex || hasOption(args, "", "ours", "theirs") ? undefined : discards;
};

/** A branch of its own may be made; lists were let through before. */
const branch: Check = (args, policy) => {
  const changing = ["delete", "move", "copy", "force", "set-upstream-to", "unset-upstream", "edit-description"];
  if (hasOption(args, "dDmMcCfu", ...changing)) return others(policy);
  return isOwn(operands(args)[0], policy) ? undefined : others(policy);
};

/** Names on this side of a colon would be moved. */
const fetch: Check = (args) => {
  if (hasOption(args, "", "upload-pack")) return runsCode;
  return operands(args)
    .slice(1)
    .some(({ text }) => text.includes(":"))
    ? deny("git-shared", "fetch without naming a branch of ours to write to")
    : undefined;
};

const changes: Readonly<Record<string, Check>> = {
  push,
  "send-pack": push,
  "http-push": push,
  "update-ref": shared,
  "symbolic-ref": shared,
  "filter-branch": shared,
  "filter-repo": shared,
  replace: shared,
  worktree: shared,
  config: shared,
  remote: shared,
  tag: shared,
  notes: shared,
  gc: shared,
  prune: shared,
  reflog: shared,
  checkout: plainly(checkout),
  switch: plainly(switching),
  restore: plainly(restore),
  branch: plainly(branch),
  fetch: plainly(fetch),
  pull: plainly(fetch),
  reset: plainly((args) => (hasOption(args, "", "hard", "merge", "keep") ? discards : undefined)),
  clean: plainly((args) => (hasOption(args, "n", "dry-run") && !hasOption(args, "f", "force") ? undefined : discards)),
  stash: plainly((args) => (["drop", "clear"].includes(operands(args)[0]?.text ?? "") ? discards : undefined)),
  rebase: plainly((args) => (hasOption(args, "x", "exec") ? runsCode : undefined)),
  bisect: plainly((args) => (operands(args)[0]?.text === "run" ? runsCode : undefined)),
  submodule: plainly((args) => (operands(args)[0]?.text === "foreach" ? runsCode : undefined)),
  add: fine,
  commit: fine,
  rm: fine,
  mv: fine,
  merge: fine,
  "cherry-pick": fine,
  revert: fine,
  am: fine,
  apply: fine,
  rerere: fine,
  "update-index": fine,
  "hash-object": fine,
  "merge-file": fine,
  "merge-tree": fine,
  "interpret-trailers": fine,
  "sparse-checkout": fine,
  lfs: fine,
  log: fine,
  diff: fine,
  show: fine,
  init: fine,
  clone: fine,
  archive: fine,
  "format-patch": fine,
  bundle: fine,
};

/** May whoever writes use this command of git so? Only for calls that change something. */
export function checkChange({ command, args }: GitCall, policy: GuardPolicy): Denial | undefined {
  const check = Object.hasOwn(changes, command) ? changes[command] : undefined;
  if (check !== undefined) return check(args, policy);
  return deny("git-unknown", `git ${command} is no command that agents have; write out what an alias stands for`);
}

/** What nobody may do, whatever its role: its reason says more than that a role only looks. */
export const isNobodys = (denial: Denial | undefined): denial is Denial =>
  denial !== undefined && denial.rule !== "git-unknown" && denial.rule !== "dynamic";
