import { hasOption, operands } from "../shell/options.ts";
import type { ShellWord } from "../shell/tree.ts";

type Check = (args: readonly ShellWord[]) => boolean;

const any: Check = () => true;
const noOutput: Check = (args) => !hasOption(args, "", "output", "ext-diff");
const oneOf =
  (...words: readonly string[]): Check =>
  (args) =>
    words.includes(operands(args)[0]?.text ?? "");

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
const looks: Readonly<Record<string, Check>> = {
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
  cherry: any,
  var: any,
  version: any,
  help: any,
  branch: branches,
  tag: tags,
  config: settings,
  remote: (args) => operands(args).length === 0 || oneOf("show", "get-url")(args),
  stash: oneOf("list", "show"),
  reflog: (args) => operands(args).length === 0 || oneOf("show")(args),
  worktree: oneOf("list"),
  notes: (args) => operands(args).length === 0 || oneOf("show", "list")(args),
  submodule: (args) => operands(args).length === 0 || oneOf("status", "summary")(args),
};

/** The names of those commands. */
export const lookingCommands: readonly string[] = Object.keys(looks).filter((name) => name !== "");

/** Does this call of git change nothing? */
export const isLook = (command: string, args: readonly ShellWord[]): boolean =>
  Object.hasOwn(looks, command) && looks[command]?.(args) === true;
