import type { ShellWord } from "../shell/tree.ts";
import { readSed } from "./sed-call.ts";

/** Does `sed` called so only print? */
export function sedOnlyPrints(args: readonly ShellWord[]): boolean {
  const { inPlace, unclear, scripts } = readSed(args);
  return !inPlace && !unclear && scripts.every(({ text, dynamic }) => !dynamic && isHarmless(text));
}

/** The files that it changes. */
export function sedTargets(args: readonly ShellWord[]): readonly ShellWord[] {
  const { inPlace, files } = readSed(args);
  return inPlace ? files : [];
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
  const [place = ""] = address.exec(text) ?? [];
  if (isSplit(place)) return undefined;
  const body = text.slice(place.length);
  const [command = ""] = body;
  if (body === "") return "";
  if ("sy".includes(command)) return afterReplacement(body);
  if ("aicrR".includes(command)) return body.replace(/^[^\n]*\n?/, "");
  if ("btT:".includes(command)) return body.slice(1).replace(/^[^\S\n]*[^\s;}]*/, "");
  if ("pPdDnNgGhHxlqQ=zF{}".includes(command)) return body.slice(1).replace(/^\s*\d*/, "");
  return undefined;
}

/** Whether a slash between brackets ends a pattern, not all agree. */
const isSplit = (pattern: string): boolean => /\[[^\]]*\//.test(pattern);

function afterReplacement(body: string): string | undefined {
  const delimiter = body[1];
  if (delimiter === undefined || /[\s\\]/.test(delimiter)) return undefined;
  let at = 2;
  let first = "";
  for (let sections = 0; sections < 2; at++) {
    if (at >= body.length) return undefined;
    if (body[at] === "\\") at++;
    else if (body[at] === delimiter && ++sections === 1) first = body.slice(2, at);
  }
  if (/\[[^\]]*$/.test(first.replace(/\\./g, ""))) return undefined;
  const [flags = ""] = /^[gpiIM\d]*/.exec(body.slice(at)) ?? [];
  const rest = body.slice(at + flags.length);
  return rest === "" || /^[\s;}]/.test(rest) ? rest : undefined;
}
