import type { GuardPolicy } from "./policy.ts";
import type { Invocation } from "./shell/invocations.ts";
import { isOption, type ShellWord } from "./shell/syntax.ts";
import { type Denial, deny } from "./tool-use.ts";

/** Our own program, by the names under which it is installed. */
export const isOv = (name: string): boolean => name === "ov" || name === "overstory";

/** May the role call our own program so? The program asks again by itself; here the agent learns what to do instead. */
export function checkOv({ name, args, bare }: Invocation, policy: GuardPolicy): Denial | undefined {
  if (!isOv(name)) return undefined;
  const { capability, commands } = policy;
  if (bare) return deny("identity", "ov knows an agent by its variables; call it without env -i and exec -c");
  if (commands === null || asksForHelp(args)) return undefined;
  const words = leading(args);
  if (words === undefined) return deny("dynamic", "which command of ov this is cannot be told; write it out");
  const verb = words.map(({ text }) => text);
  // The operator's inbox may be looked at; without this option its mail would count as read.
  const peeks = verb[0] === "inbox" && args.some(({ text }) => text === "--peek");
  const mine = peeks || commands.some((command) => isCall(command.split(" "), verb, args));
  if (mine || verb.length === 0) return undefined;
  const shown = verb.slice(0, 2).join(" ");
  return deny("ov-rights", `a ${capability} has no ov ${shown}; ask by mail whoever may: your parent, or the operator`);
}

/** A word that is the name of a group stands for a command only as long as none of the group follows. */
function isCall(command: readonly string[], verb: readonly string[], args: readonly ShellWord[]): boolean {
  if (!command.every((word, at) => verb[at] === word)) return false;
  const name = command.join(" ");
  const others = Object.hasOwn(groups, name) ? groups[name] : undefined;
  return others === undefined || !args.some(({ text, dynamic }) => dynamic || others.includes(text));
}

/** Commands that are groups, too, with those of their commands that change something. */
const groups: Readonly<Record<string, readonly string[]>> = {
  run: ["change", "retarget", "complete", "criteria"],
  merge: ["approve", "reject", "cancel", "retry", "resume", "undo", "promote"],
  budget: ["raise"],
  "run criteria": ["add", "amend", "prove", "waive", "unwaive"],
};

const switches = /^(--(json|quiet|verbose|timing|no-color|yes)|-[qy]+)$/;
const valued = /^--(project|format)$/;

/** Help is shown instead of anything else, unless the word is the value of an option. */
function asksForHelp(args: readonly ShellWord[]): boolean {
  const at = args.findIndex(({ text }) => /^(--help|-h|--version|-v)$/.test(text));
  const [first] = args;
  if (first?.text === "help") return true;
  return at >= 0 && args.slice(0, at).every((word) => !word.dynamic && (!isOption(word) || switches.test(word.text)));
}

/** The words before the first option of a command; undefined when one of them cannot be told. */
function leading(args: readonly ShellWord[]): readonly ShellWord[] | undefined {
  const words: ShellWord[] = [];
  for (let at = 0; at < args.length && words.length < 3; at++) {
    const word = args[at];
    if (word === undefined) break;
    if (word.dynamic || word.pattern) {
      // Behind the words that say what to do come those that say to what.
      const [first] = words;
      return first === undefined || (words.length === 1 && groupNames.includes(first.text)) ? undefined : words;
    }
    if (valued.test(word.text)) at++;
    else if (isOption(word)) {
      if (!switches.test(word.text) && !/^--(project|format)=/.test(word.text)) break;
    } else words.push(word);
  }
  return words;
}

const groupNames: readonly string[] =
  "task spec group mail merge gate run agents budget prompt hooks config trust worktree snapshots engine coordinator orchestrator supervisor guard runtimes".split(
    " ",
  );
