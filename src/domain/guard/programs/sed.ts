import { hasOption, isOption, operands, valuesOf } from "../shell/options.ts";
import type { ShellWord } from "../shell/tree.ts";

/** Does `sed` called so only print? */
export function sedOnlyPrints(args: readonly ShellWord[]): boolean {
  if (sedWrites(args) || hasOption(args, "f", "file")) return false;
  return scriptsOf(args).every(({ text, dynamic }) => !dynamic && isHarmless(text));
}

/** Does it change the files that it is given? */
export const sedWrites = (args: readonly ShellWord[]): boolean =>
  args.some(({ text }) => /^(-[nEersuz]*i|--in)/.test(text));

/** The files that it is given. */
export function sedFiles(args: readonly ShellWord[]): readonly ShellWord[] {
  const words = operands(args).filter((word) => !valuesOf(args, "-e", "--expression", "-f", "--file").includes(word));
  return hasScriptOption(args) ? words : words.slice(1);
}

const hasScriptOption = (args: readonly ShellWord[]): boolean => hasOption(args, "ef", "expression", "file");

function scriptsOf(args: readonly ShellWord[]): readonly ShellWord[] {
  const given = valuesOf(args, "-e", "--expression");
  const clusters = args.flatMap((word, at) => (/^-[nErsuz]+e$/.test(word.text) ? args.slice(at + 1, at + 2) : []));
  if (given.length + clusters.length > 0) return [...given, ...clusters];
  return args.filter((word) => !isOption(word)).slice(0, 1);
}

/** Walks over the commands of a script; one that writes a file or runs a program ends the walk. */
function isHarmless(script: string): boolean {
  let rest = script;
  while (rest !== "") {
    const next = afterCommand(rest.replace(/^[\s;{}]+/, ""));
    if (next === undefined) return false;
    rest = next;
  }
  return true;
}

const address =
  /^(?:\d+(?:~\d+)?|\$|\/(?:\\.|[^/\\])*\/[IM]*)(?:\s*,\s*(?:[+~]?\d+|\$|\/(?:\\.|[^/\\])*\/[IM]*))?\s*!?\s*/;

function afterCommand(text: string): string | undefined {
  const body = text.replace(address, "");
  const [command = ""] = body;
  if (body === "") return "";
  if ("sy".includes(command)) return afterReplacement(body);
  if ("aicrRbtT:".includes(command)) return body.replace(/^[^\n]*\n?/, "");
  if ("pPdDnNgGhHxlqQ=zF{}".includes(command)) return body.slice(1).replace(/^\s*\d*/, "");
  return undefined;
}

function afterReplacement(body: string): string | undefined {
  const delimiter = body[1];
  if (delimiter === undefined || /[\s\\]/.test(delimiter)) return undefined;
  let at = 2;
  for (let sections = 0; sections < 2; at++) {
    if (at >= body.length) return undefined;
    if (body[at] === "\\") at++;
    else if (body[at] === delimiter) sections++;
  }
  const [flags = ""] = /^[gpiIM\d]*/.exec(body.slice(at)) ?? [];
  const rest = body.slice(at + flags.length);
  return rest === "" || /^[\s;}]/.test(rest) ? rest : undefined;
}
