import { hasOption, operands, type ShellWord } from "./shell/syntax.ts";

type Check = (args: readonly ShellWord[]) => boolean;

const any: Check = () => true;
const noOutput: Check = (args) => !hasOption(args, "", "output", "ext-diff");
const oneOf =
  (...words: readonly string[]): Check =>
  (args) =>
    words.includes(args[0]?.text ?? "");
/** For commands with options of their own before the word that says what to do. */
const quietly =
  (flags: readonly string[], check: Check): Check =>
  (args) =>
    check(args.filter(({ text }, at) => at > 0 || !flags.includes(text)));
const nothingOr =
  (...words: readonly string[]): Check =>
  (args) =>
    args.length === 0 || oneOf(...words)(args);
const both =
  (one: Check, other: Check): Check =>
  (args) =>
    one(args) && other(args);

/** Lists of names: none is made, moved or deleted. */
const lists =
  (changing: string, ...long: readonly string[]): Check =>
  (args) => {
    if (args.some(({ dynamic }) => dynamic) || hasOption(args, changing, ...long)) return false;
    const searches = hasOption(args, "l", "list", "contains", "no-contains", "merged", "no-merged", "points-at");
    return searches || operands(args).length === 0;
  };

const branches = lists(
  "dDmMcCfut",
  "delete",
  "move",
  "copy",
  "force",
  "set-upstream-to",
  "unset-upstream",
  "edit-description",
  "track",
);
const tags = lists("asufdFm", "annotate", "sign", "local-user", "force", "delete", "file", "message", "edit");

const settings: Check = (args) => {
  const changing = ["add", "unset", "unset-all", "replace-all", "rename-section", "remove-section", "edit"];
  if (args.some(({ dynamic }) => dynamic) || hasOption(args, "e", ...changing)) return false;
  const words = operands(args).map(({ text }) => text);
  if (["get", "list"].includes(words[0] ?? "") || hasOption(args, "l", "get", "list")) return true;
  return words.length === 1 && !["set", "unset", "edit", ...changing].includes(words[0] ?? "");
};

/** Git commands that change nothing when they are called so. */
const readOnly: Readonly<Record<string, Check>> = {
  "": any,
  status: any,
  log: noOutput,
  diff: noOutput,
  show: noOutput,
  whatchanged: noOutput,
  "diff-tree": noOutput,
  "diff-index": noOutput,
  "diff-files": noOutput,
  "range-diff": noOutput,
  shortlog: noOutput,
  grep: (args) => !hasOption(args, "O", "open-files-in-pager", "ext-grep"),
  blame: any,
  annotate: any,
  "ls-files": any,
  "ls-tree": any,
  "cat-file": any,
  "rev-parse": any,
  "rev-list": any,
  "merge-base": any,
  describe: any,
  "name-rev": any,
  "for-each-ref": any,
  "show-ref": any,
  "show-branch": any,
  "count-objects": any,
  "check-ignore": any,
  "check-attr": any,
  "check-mailmap": any,
  "check-ref-format": any,
  cherry: any,
  "patch-id": any,
  stripspace: any,
  "verify-commit": any,
  "verify-tag": any,
  // It writes objects that nothing refers to, and no file.
  "merge-tree": any,
  "ls-remote": (args) => !hasOption(args, "", "upload-pack", "exec"),
  fsck: (args) => !hasOption(args, "", "lost-found"),
  "hash-object": (args) => !hasOption(args, "w"),
  "format-patch": (args) => hasOption(args, "", "stdout") && !hasOption(args, "o", "output-directory", "output"),
  apply: (args) =>
    hasOption(args, "", "check", "stat", "numstat", "summary") && !hasOption(args, "", "apply", "index", "cached"),
  "symbolic-ref": (args) => operands(args).length === 1 && !hasOption(args, "dm", "delete"),
  bisect: oneOf("log", "view", "visualize"),
  rerere: oneOf("diff", "status", "remaining"),
  bundle: oneOf("verify", "list-heads"),
  lfs: oneOf("ls-files", "status", "env", "version"),
  "sparse-checkout": oneOf("list"),
  var: any,
  version: any,
  help: any,
  branch: branches,
  tag: tags,
  config: settings,
  remote: quietly(["-v", "--verbose"], nothingOr("show", "get-url")),
  stash: both(oneOf("list", "show"), noOutput),
  reflog: both((args) => !oneOf("expire", "delete", "drop", "write")(args), noOutput),
  worktree: oneOf("list"),
  notes: nothingOr("show", "list"),
  submodule: quietly(["-q", "--quiet"], nothingOr("status", "summary")),
};

/** The names of those commands. */
export const readOnlyCommands: readonly string[] = Object.keys(readOnly).filter((name) => name !== "");

/** Does this call of git change nothing? */
export const isReadOnlyCall = (command: string, args: readonly ShellWord[]): boolean =>
  Object.hasOwn(readOnly, command) && readOnly[command]?.(args) === true;
