import { hasOption, isOption, operands, valuesOf } from "../shell/options.ts";
import type { ShellWord } from "../shell/tree.ts";
import { deny } from "../verdict.ts";
import { type Check, discards, isOwn, others } from "./terms.ts";

export const checkout: Check = (args, policy) => {
  if (hasOption(args, "Bfdtp", "force", "orphan", "detach", "track", "patch")) return discards;
  const created = valuesOf(args, "-b");
  if (created.length > 0) return created.every((name) => isOwn(name, policy)) ? undefined : others(policy);
  // With one word these carry the changes over to another branch.
  if (hasOption(args, "m", "merge", "conflict")) return namesFiles(args) ? undefined : sides;
  const words = operands(args);
  // Git itself refuses them with the name of a branch, but not with that of a commit before those of files.
  if (hasOption(args, "23", "ours", "theirs")) return words.length === 1 || namesFiles(args) ? undefined : sides;
  const switches = words.length === 1 && !args.some(({ text }) => text === "--");
  if (switches && isOwn(words[0], policy)) return undefined;
  return switches && words[0]?.text !== "." ? others(policy) : discards;
};

/** Only files can be meant: every word stands behind `--`. */
function namesFiles(args: readonly ShellWord[]): boolean {
  const end = args.findIndex(({ text }) => text === "--");
  return end >= 0 && end < args.length - 1 && args.slice(0, end).every(isOption);
}

const sides = deny(
  "git-branch",
  "this could leave your branch; to settle a conflict name files alone, as in: git checkout --ours -- <file>",
);

export const switching: Check = (args, policy) => {
  if (hasOption(args, "Cfdt", "force-create", "force", "discard-changes", "orphan", "detach", "track"))
    return others(policy);
  const created = valuesOf(args, "-c", "--create");
  // An abbreviated option hides the name behind it.
  if (created.length === 0 && hasOption(args, "", "create")) return others(policy);
  return isOwn(created[0] ?? operands(args)[0], policy) ? undefined : others(policy);
};

export const restore: Check = (args) => {
  const onlyIndex = hasOption(args, "S", "staged") && !hasOption(args, "W", "worktree");
  return onlyIndex || hasOption(args, "23", "ours", "theirs") ? undefined : discards;
};

/** A branch of its own may be made; lists were let through before. */
export const branch: Check = (args, policy) => {
  const plain = args.every((word) => !isOption(word) || harmless.includes(word.text));
  return plain && isOwn(operands(args)[0], policy) ? undefined : others(policy);
};

const harmless = ["-q", "--quiet", "--no-track", "--create-reflog"];
