import { absolute, isScratch, type Places } from "./paths.ts";
import type { GuardPolicy } from "./policy.ts";
import type { Invocation } from "./shell/invocations.ts";
import { isOption, type ShellWord } from "./shell/syntax.ts";
import { targetsOf } from "./writing-programs.ts";

/** What must be known to tell where a word leads. */
interface ScratchTerms {
  readonly policy: GuardPolicy;
  readonly places: Places;
  readonly cwd: string | undefined;
  /** The variables that the line sets anywhere. */
  readonly set: readonly string[];
}

/**
 * Programs with which a role that changes nothing may write scratch files, and the options that it may use. None of them
 * can make a link, because a file written through a link would lie outside the scratch directory.
 */
const keepers: Readonly<Record<string, RegExp>> = {
  mkdir: /^-p$/,
  touch: /^$/,
  tee: /^-a$/,
  cp: /^-([fnpv]+|Lr|rL)$/,
  mv: /^-[fnv]+$/,
  rm: /^-[frv]+$/,
};

/** Does this program, called so, write below the agent's own directory only? */
export function writesScratch({ name, args }: Invocation, terms: ScratchTerms): boolean {
  const options = Object.hasOwn(keepers, name) ? keepers[name] : undefined;
  if (options === undefined || !args.filter(isOption).every(({ text }) => options.test(text))) return false;
  const targets = targetsOf(name, args);
  return targets.length > 0 && targets.every((target) => isScratchWord(target, terms));
}

/** A word that leads below the agent's own directory. A pattern may become anything. */
export function isScratchWord(word: ShellWord, terms: ScratchTerms): boolean {
  const { policy, places, cwd } = terms;
  const path = absolute(word, cwd, places.home) ?? scratchPath(word, terms);
  return path !== undefined && !word.pattern && isScratch(path, policy, places);
}

/** Where a path leads that begins with the variable of the agent's own directory; undefined when that cannot be told. */
export function scratchPath(
  { text, dynamic }: ShellWord,
  { policy, set }: Pick<ScratchTerms, "policy" | "set">,
): string | undefined {
  const below = /^\$(?:OVERSTORY_SCRATCH|\{OVERSTORY_SCRATCH\})\/([\w.+@%=,/-]+)$/.exec(text)?.[1];
  // Without `dynamic` the variable stood in single quotes, and is the name of a directory.
  if (!dynamic || policy.scratch === null || below === undefined || below.split("/").includes("..")) return undefined;
  // A name that cannot be told may be this one.
  const isSet = set.some((name) => name === "OVERSTORY_SCRATCH" || !/^\w+$/.test(name));
  return isSet ? undefined : `${policy.scratch}/${below}`;
}
