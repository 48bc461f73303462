import { hasOption, operands, operandsBeside } from "../shell/options.ts";
import type { ShellWord } from "../shell/tree.ts";
import { deny } from "../verdict.ts";
import { type Check, never, others, runsCode, shared } from "./terms.ts";

/** A builder whose branch could not be merged takes in what landed; whoever writes no files has no branch to do it on. */
export const onlyWriters =
  (check: Check): Check =>
  (args, policy) =>
    policy.files === "scoped-write" || endsIt(args) ? check(args, policy) : queued;

/** What a builder handed over must stay as it was seen: its history is not rewritten, others' is not brought along. */
export const onlyMergers =
  (check: Check): Check =>
  (args, policy) =>
    policy.capability === "merger" || endsIt(args) ? check(args, policy) : queued;

const queued = deny(
  "git-merge",
  "the merge queue joins your branch with what landed; if you cannot go on without it, ask your parent: ov mail send --type question",
);

/** Getting out of what is half done is nobody's mistake. */
const endsIt = (args: readonly ShellWord[]): boolean =>
  args.length > 0 && args.every(({ text }) => ["--abort", "--continue", "--quit", "--skip"].includes(text));

export const pull = never(queued);

/** The branch of the worktree alone: a second word names another one, which would be moved. */
export const rebase: Check = (args, policy) => {
  if (hasOption(args, "x", "exec")) return runsCode;
  if (hasOption(args, "", "update-refs")) return shared;
  const words = operandsBeside(args, ["--onto", "-s", "--strategy", "-X", "--strategy-option"]);
  const own = hasOption(args, "", "root") ? 0 : 1;
  return words.length <= own ? undefined : others(policy);
};

/** Names on this side of a colon would be moved, and so would what the other options say. */
export const fetch: Check = (args) => {
  if (hasOption(args, "", "upload-pack")) return runsCode;
  const words = operands(args).slice(1);
  const writes = hasOption(args, "", "refmap", "stdin", "set-upstream") || words.some(({ text }) => text.includes(":"));
  return writes ? deny("git-shared", "fetch without naming a branch of ours to write to") : undefined;
};

export const stash = never(
  deny(
    "git-shared",
    "all worktrees have one stash, from which another agent may take your work, or you theirs; commit what you want to keep, or put it aside with git diff > /tmp/<name>.patch",
  ),
);

export const bisect: Check = (args, policy) => {
  const [verb, ...rest] = operands(args);
  if (verb?.text === "run") return runsCode;
  return verb?.text === "reset" && rest.length > 0 ? others(policy) : undefined;
};

/** Of large files only what stays in the worktree, or comes from elsewhere. */
export const lfs: Check = ([verb]) => (localLfs.includes(verb?.text ?? "") ? undefined : shared);

const localLfs =
  "track untrack ls-files status env version pointer fetch pull checkout fsck logs smudge clean filter-process".split(
    " ",
  );
