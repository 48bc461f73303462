import { isOption, valuesOf } from "../shell/options.ts";
import type { ShellWord } from "../shell/tree.ts";
import { type Denial, deny } from "../verdict.ts";

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
export function readGit(args: readonly ShellWord[]): GitCall | Denial {
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
  /^(alias\.|include|url\.|core\.(hookspath|fsmonitor|worktree|pager|gitproxy|attributesfile|askpass)|pager\.|protocol\.|remote\.|rebase\.updaterefs|submodule\..*update|interactive\.difffilter)|(editor|cmd|command|hook|helper|textconv|external|driver|process|clean|smudge|program|uploadpack|receivepack)=/i;

const isRiskySetting = (word: ShellWord | undefined): boolean =>
  word === undefined || word.dynamic || (riskySetting.test(word.text) && !idle.test(word.text));

/** Programs that only pass on what they are given, or do nothing. */
const idle = /^([\w.]*(pager|editor)|pager\.\w+|core\.fsmonitor)=(cat|less|true|:|false)?$/i;
