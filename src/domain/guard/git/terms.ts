import type { GuardPolicy } from "../policy.ts";
import type { ShellWord } from "../shell/tree.ts";
import { type Denial, deny } from "../verdict.ts";

/** Why an agent may not call a command of git with these words; undefined when it may. */
export type Check = (args: readonly ShellWord[], policy: GuardPolicy) => Denial | undefined;

export const fine: Check = () => undefined;
export const never =
  (denial: Denial): Check =>
  () =>
    denial;

/** For commands whose options decide: a word that becomes something else once it runs might be any of them. */
export const plainly =
  (check: Check): Check =>
  (args, policy) =>
    args.some(isUnclear)
      ? deny("dynamic", "what git would do here cannot be told; write its words out")
      : check(args, policy);

const isUnclear = ({ dynamic, pattern, text }: ShellWord): boolean =>
  dynamic || (pattern && (text.startsWith("-") || text.includes("{")));

export const shared = deny(
  "git-shared",
  "refs, settings and worktrees are shared by everybody here; commit on your own branch instead",
);

export const discards = deny(
  "git-discard",
  "this throws work away that nobody could bring back; take a change back file by file, with git show HEAD:<file> > <file> or git diff -- <file> | git apply -R",
);

export const runsCode = deny("opaque-code", "git would run commands here that cannot be seen; run them one by one");

export const others = (policy: GuardPolicy): Denial =>
  deny("git-branch", `stay on your own branch; others you may make are called ${own(policy)}<name>`);

const own = ({ agent }: GuardPolicy): string => `overstory/${agent}/`;

/** Is this, as far as its name tells, a branch of the agent itself? */
export const isOwn = (word: ShellWord | undefined, policy: GuardPolicy): boolean =>
  word !== undefined && !word.dynamic && !word.pattern && word.text.startsWith(own(policy));
