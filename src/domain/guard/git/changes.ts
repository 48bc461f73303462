import type { GuardPolicy } from "../policy.ts";
import { hasOption, operands } from "../shell/options.ts";
import { type Denial, deny } from "../verdict.ts";
import { branch, checkout, restore, switching } from "./branches.ts";
import type { GitCall } from "./call.ts";
import { bisect, fetch, lfs, onlyMergers, onlyWriters, pull, rebase, stash } from "./joins.ts";
import { type Check, discards, fine, never, plainly, runsCode, shared } from "./terms.ts";

const push = never(
  deny(
    "git-push",
    "branches leave this machine by the operator alone; commit, then finish with: ov done --summary <what>",
  ),
);
const ofEverybody = never(shared);

const changes: Readonly<Record<string, Check>> = {
  push,
  "send-pack": push,
  "http-push": push,
  "update-ref": ofEverybody,
  "symbolic-ref": plainly((args) =>
    operands(args).length === 1 && !hasOption(args, "dm", "delete") ? undefined : shared,
  ),
  "filter-branch": ofEverybody,
  "filter-repo": ofEverybody,
  replace: ofEverybody,
  worktree: ofEverybody,
  config: never(
    deny("git-shared", "settings are shared by all worktrees; for one call alone: git -c <name>=<value> <command>"),
  ),
  remote: ofEverybody,
  tag: ofEverybody,
  notes: ofEverybody,
  gc: ofEverybody,
  prune: ofEverybody,
  reflog: ofEverybody,
  // Switches a setting of the whole repository on.
  "sparse-checkout": ofEverybody,
  stash,
  pull,
  merge: onlyWriters(fine),
  rebase: onlyMergers(plainly(rebase)),
  checkout: plainly(checkout),
  switch: plainly(switching),
  restore: plainly(restore),
  branch: plainly(branch),
  fetch: plainly(fetch),
  reset: plainly((args) => (hasOption(args, "", "hard", "merge", "keep") ? discards : undefined)),
  clean: plainly((args) => (hasOption(args, "n", "dry-run") && !hasOption(args, "f", "force") ? undefined : discards)),
  bisect: plainly(bisect),
  lfs: plainly(lfs),
  submodule: plainly((args) => (operands(args)[0]?.text === "foreach" ? runsCode : undefined)),
  add: fine,
  commit: fine,
  rm: fine,
  mv: fine,
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
