import { isAssignedSecret } from "./assigned-secrets.ts";
import { namedTokens } from "./token-shapes.ts";

/**
 * The lines of a text, counted from 1, that hold a key of a known shape. Made for texts that people keep, so it is
 * stricter than what takes secrets out of outputs: nothing counts for looking random, and samples are no keys.
 */
export function secretLines(text: string): readonly number[] {
  const places: number[] = [];
  for (const { hints, pattern, isOne } of namedTokens().shapes) {
    if (!hints.some((hint) => text.includes(hint))) continue;
    for (const match of text.matchAll(pattern)) {
      if (isOne?.(match[0]) !== false && !isSample(match[0])) places.push(match.index);
    }
  }
  if (text.includes("PRIVATE KEY")) {
    for (const match of text.matchAll(privateKey)) if (!isSample(match[1] ?? "")) places.push(match.index);
  }
  return linesAt(
    text,
    places.toSorted((a, b) => a - b),
  );
}

function linesAt(text: string, places: readonly number[]): readonly number[] {
  const lines = new Set<number>();
  let [line, from] = [1, 0];
  for (const place of places) {
    for (let at = text.indexOf("\n", from); at !== -1 && at < place; at = text.indexOf("\n", from)) {
      line++;
      from = at + 1;
    }
    lines.add(line);
  }
  return [...lines];
}

/** With the beginning of what it holds, as it is or inside of a JSON text. */
const privateKey =
  /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:\r?\n|(?:\\+r)?\\+n)[ \t]{0,32}([A-Za-z0-9+/=]{40,200})/g;

const sampleWords = /example|sample|dummy|fake|test|placeholder|redacted|changeme|your|x{5}|0123456|1234567|abcdefg/i;
const fewestCharacters = 7;

/** What documents show instead of a key: words, or the same few characters again and again. */
function isSample(token: string): boolean {
  if (sampleWords.test(token)) return true;
  const parts = token.split(/[^A-Za-z0-9]+/);
  const longest = parts.reduce((most, part) => (part.length > most.length ? part : most), "");
  return new Set(longest).size < fewestCharacters;
}

const shortestRandom = 16;
const looksRandom = (text: string): boolean =>
  text.length >= shortestRandom && /[0-9]/.test(text) && /[A-Za-z]/.test(text) && /^[\w~-]+$/.test(text);

/** A setting that belongs on one machine. */
export const isSecretSetting = (value: string): boolean => secretLines(value).length > 0 || isSecretAddress(value);

/** Does the address itself give access? It does with a password in it, or with a part that cannot be guessed. */
function isSecretAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { password, pathname, searchParams } = new URL(text);
  return (
    password !== "" ||
    pathname.split("/").some(looksRandom) ||
    [...searchParams].some(([name, value]) => looksRandom(value) || isAssignedSecret(name, value, "composed"))
  );
}
