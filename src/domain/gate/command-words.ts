import { substituted } from "./simple-commands.ts";

/** The values that a line of shell may give to its variables, by name. */
export type Values = ReadonlyMap<string, readonly string[]>;

/**
 * A word as it may be after its variables are replaced by their values. The last reading has the most of them replaced.
 * A path that begins with an unknown variable most often begins at the root of the project. If not, one path too many
 * is named.
 */
export function readingsOf(word: string, values: Values): readonly string[] {
  let readings = [word];
  for (const [name, given] of values) {
    const use = useOf(name);
    readings = readings.flatMap((each) =>
      use.test(each) ? [each, ...given.map((value) => each.replaceAll(new RegExp(use, "g"), () => value))] : [each],
    );
    if (readings.length > mostReadings) readings.splice(0, readings.length - mostReadings);
  }
  return readings.map((each) => each.replace(variableBefore, "./"));
}

const mostReadings = 64;
const variableBefore = /(["']?)\$(?:\{[^}]*\}|\w+)\1\//g;

/** Where the variable is used. */
export const useOf = (name: string): RegExp => new RegExp(`\\$(?:${name}(?!\\w)|\\{[#!]?${name}(?!\\w)[^}]*\\})`);

/**
 * The parts of a word that may be paths: the word itself, the values between separators, and a value directly behind the
 * letters of an option. Most parts are no paths; the caller keeps those that are files.
 */
export function piecesOf(word: string): readonly string[] {
  const parts = word
    .replaceAll(/\$\{\w+:?[-=+?]/g, " ")
    .replaceAll(/\\[abefnrtv0]/g, " ")
    .split(/[\s=,:;@'"()<>{}|&\\`$!^*?[\]]+/);
  const pieces = new Set([word, word.slice(word.indexOf("=") + 1)]);
  for (const part of parts) {
    const path = part.replaceAll(substituted, ".");
    pieces.add(path);
    if (/^-[^-]/.test(path) && path.length <= longestOption)
      for (let at = 1; at < path.length; at++) pieces.add(path.slice(at));
  }
  pieces.delete("");
  return [...pieces];
}

/** No option with a path behind its letter is longer. */
const longestOption = 300;

/** Joins two paths from the root of the project. A path that leads out of the project stays outside. */
export function join(dir: string, path: string): string {
  const parts: string[] = path.startsWith("/") ? ["", "outside"] : dir === "" ? [] : dir.split("/");
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}
