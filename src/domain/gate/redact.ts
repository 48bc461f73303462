import { isSecretName } from "../agent/environment.ts";

/** What stands in the place of a secret. */
export const redacted = "[REDACTED]";

/** Shorter values are ordinary words, and would be blotted out all over a text. */
const shortestValue = 8;

/** The values in an environment whose names say that nobody else should read them. */
export function secretValues(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || !isSecretName(name)) return [];
    return value.split(/\r?\n/).filter((line) => line.trim().length >= shortestValue);
  });
}

/**
 * Blots out secrets: these values, and whatever has the shape of a token, a private key, a password in an address, or
 * is assigned to a name that reads like a secret. Whole lines only: half a token has no shape.
 */
export function redactor(values: readonly string[]): (text: string) => string {
  const known = [...new Set(values)].filter((value) => value.length >= shortestValue);
  // The longest first: one may be the beginning of another.
  const literal = known.toSorted((a, b) => b.length - a.length).map((value) => RegExp.escape(value));
  const shapes = new RegExp([...literal, ...tokens].join("|"), "g");
  return (text) =>
    text
      .replace(privateKey, redacted)
      .replace(endOfPrivateKey, redacted)
      .replace(shapes, redacted)
      .replace(bearer, `$1${redacted}`)
      .replace(password, `$1${redacted}@`)
      .replace(assignment, `$1${redacted}`);
}

/** Where a private key begins whose end is not in the text yet; -1 when there is none. */
export function openKeyAt(text: string): number {
  const begin = text.lastIndexOf("-----BEGIN ");
  if (begin < 0 || !beginOfPrivateKey.test(text.slice(begin, begin + 64))) return -1;
  return endOfBlock.test(text.slice(begin)) ? -1 : begin;
}

const tokens = [
  String.raw`\bsk-[A-Za-z0-9_-]{20,}`,
  String.raw`\bgh[opsur]_[A-Za-z0-9]{20,}`,
  String.raw`\bgithub_pat_[A-Za-z0-9_]{20,}`,
  String.raw`\bglpat-[A-Za-z0-9_-]{20,}`,
  String.raw`\bnpm_[A-Za-z0-9]{30,}`,
  String.raw`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,
  String.raw`\bAIza[A-Za-z0-9_-]{30,}`,
  String.raw`\bA(?:KIA|SIA)[A-Z0-9]{16}\b`,
  String.raw`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+`,
] as const;

const beginOfPrivateKey = /^-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/;
const endOfBlock = /-----END [A-Z0-9 ]*PRIVATE KEY-----/;
const privateKey = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$(?![\s\S]))/g;
/** The rest of a key whose beginning was left out. */
const endOfPrivateKey = /^(?:[A-Za-z0-9+/=]{16,}\r?\n)*-----END [A-Z0-9 ]*PRIVATE KEY-----/;
const bearer = /\b(Bearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi;
const password = /\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]{0,256}:)[^\s/@]+@/gi;
const assignment =
  /\b((?:[A-Z0-9]+_)*(?:APIKEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_[A-Z0-9]+)*(?:=|["']\s*:\s*(?=["'])))(?:"[^"\r\n]*"|'[^'\r\n]*'|[^\s"',;]+)/g;
