import { simpleCommands, type Word } from "./shell-words.ts";

/**
 * Does this line of shell send commits somewhere, or can that not be told? Looks through wrappers, nested shells and
 * git's own options. A program that the agent wrote itself is not looked into: this is a fence, not a wall.
 */
export function mayPush(line: string, depth = 0): boolean {
  if (depth > deepest) return true;
  return simpleCommands(line).some((words) => pushes(words, depth));
}

const deepest = 8;
const sending = ["push", "send-pack"];

function pushes(given: readonly Word[], depth: number): boolean {
  const words = unwrapped(given);
  const [program, ...rest] = words;
  if (program === undefined) return false;
  if (program.dynamic) return rest.some(({ text }) => sending.includes(text));
  const name = program.text.slice(program.text.lastIndexOf("/") + 1);
  if (name === "git") return sendsByGit(rest);
  if (name === "eval") return mayPush(rest.map(({ text }) => text).join(" "), depth + 1);
  const script = shells.includes(name) ? scriptOf(rest) : undefined;
  return script !== undefined && mayPush(script, depth + 1);
}

const shells = ["sh", "bash", "zsh", "dash", "ksh"];

/** What `sh -c` is given. */
function scriptOf(words: readonly Word[]): string | undefined {
  const at = words.findIndex(({ text }) => /^-[a-z]*c[a-z]*$/.test(text));
  return at < 0 ? undefined : words[at + 1]?.text;
}

/** Git's options that are followed by a value of their own. */
const gitValues = [
  "-C",
  "-c",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--exec-path",
  "--super-prefix",
  "--config-env",
];

function sendsByGit(words: readonly Word[]): boolean {
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) return false;
    if (gitValues.includes(word.text)) at++;
    else if (word.dynamic || !word.text.startsWith("-")) return word.dynamic || sending.includes(word.text);
  }
  return false;
}

const keywords = ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time"];
const wrappers = ["env", "command", "builtin", "exec", "nohup", "nice", "timeout", "stdbuf", "setsid", "sudo", "xargs"];

/** Without assignments, keywords, and programs that only run another one. */
function unwrapped(words: readonly Word[]): readonly Word[] {
  let rest = words;
  for (;;) {
    const first = rest[0];
    if (first === undefined) return rest;
    if (/^\w+=/.test(first.text) || (!first.dynamic && keywords.includes(first.text))) rest = rest.slice(1);
    else if (!first.dynamic && wrappers.includes(first.text)) rest = wrappedIn(rest.slice(1));
    else return rest;
  }
}

/** Options of a wrapper, with values that look like numbers, durations or signals, belong to it. */
function wrappedIn(words: readonly Word[]): readonly Word[] {
  const start = words.findIndex(
    ({ text, dynamic }) => dynamic || !(text.startsWith("-") || /^[\d.]+[smhdKMG]?$/.test(text) || text === "{}"),
  );
  return start < 0 ? [] : words.slice(start);
}
