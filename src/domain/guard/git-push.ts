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
  const [program, ...rest] = withoutPrefix(given);
  if (program === undefined) return false;
  if (program.dynamic) return rest.some(({ text }) => sending.includes(text));
  const name = program.text.slice(program.text.lastIndexOf("/") + 1);
  if (name === "git") return sendsByGit(rest);
  if (name === "eval") return mayPush(rest.map(({ text }) => text).join(" "), depth + 1);
  if (wrappers.includes(name)) return wrappedIn(rest).some((wrapped) => pushes(wrapped, depth));
  return shells.includes(name) && pushesByShell(rest, depth);
}

const shells = ["sh", "bash", "zsh", "dash", "ksh"];

/** A script in a file is a program of its own; what a shell reads from its input cannot be known. */
function pushesByShell(words: readonly Word[], depth: number): boolean {
  const at = words.findIndex(({ text }) => /^-[a-z]*c[a-z]*$/.test(text));
  if (at < 0) return words.every(({ text }) => text.startsWith("-") && !asksAboutItself.includes(text));
  const script = words.slice(at + 1).find(({ text }) => text !== "--");
  return script !== undefined && mayPush(script.text, depth + 1);
}

const asksAboutItself = ["--version", "--help"];

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

const keywords = ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "coproc"];

/** Without assignments and keywords. */
function withoutPrefix(words: readonly Word[]): readonly Word[] {
  const start = words.findIndex(({ text, dynamic }) => !(/^\w+=/.test(text) || (!dynamic && keywords.includes(text))));
  return start < 0 ? [] : words.slice(start);
}

/** Programs that only run another one. */
const wrappers = [
  "env",
  "command",
  "builtin",
  "exec",
  "nohup",
  "nice",
  "time",
  "timeout",
  "stdbuf",
  "setsid",
  "sudo",
  "xargs",
];

/**
 * What a wrapper may run. Its options, with values that look like numbers or durations, belong to it; whether the word
 * after an option is the option's value or the program, only the wrapper knows, so both readings are looked at.
 */
function wrappedIn(words: readonly Word[]): readonly (readonly Word[])[] {
  const readings: (readonly Word[])[] = [];
  for (const [at, { text, dynamic }] of words.entries()) {
    const isOption = !dynamic && text.startsWith("-");
    if (isOption || /^[\d.]+[smhdKMG]?$/.test(text) || text === "{}") continue;
    readings.push(words.slice(at));
    if (words[at - 1]?.text.startsWith("-") !== true) break;
  }
  return readings;
}
