import { shortened } from "../text/sizes.ts";

/** The fields by which a person recognises the call of a tool, most telling first. The CLIs we know share these names. */
const telling = [
  "command",
  "file_path",
  "notebook_path",
  "path",
  "pattern",
  "url",
  "query",
  "description",
  "subject",
  "skill",
  "prompt",
] as const;
const longestSummary = 200;

/** What a tool is used on, in one short line: a command, a file, a pattern. Null when the input names none. */
export function toolSummary(input: unknown): string | null {
  if (typeof input !== "object" || input === null) return null;
  const fields: Readonly<Record<string, unknown>> = { ...input };
  for (const name of telling) {
    const value = fields[name];
    if (typeof value !== "string" || value.trim() === "") continue;
    const line = value
      .slice(0, 4 * longestSummary)
      .replace(/\s+/g, " ")
      .trim();
    return line.length <= longestSummary ? line : `${line.slice(0, longestSummary - 1)}…`;
  }
  return null;
}

/** The most characters of an input that an event keeps, as JSON. */
const mostInputChars = 4_000;

/**
 * The input of a tool as an event keeps it: shortened, with a digest of the whole by which equal inputs are found. The
 * raw output of the turn has the rest.
 */
export function keptInput(
  input: unknown,
  digest: (text: string) => string,
): { readonly input?: unknown; readonly inputDigest?: string } {
  const whole = JSON.stringify(input);
  if (whole === undefined) return {};
  const inputDigest = digest(whole);
  if (whole.length <= mostTextChars[0]) return { input, inputDigest };
  for (const chars of mostTextChars) {
    const short = shortened(input, chars);
    if (JSON.stringify(short).length <= mostInputChars) return { input: short, inputDigest };
  }
  // Quotes of the JSON text are escaped when it is stored, so it may double.
  return { input: shortened(whole, mostInputChars / 2 - 100), inputDigest };
}

/** The most characters of one text in an input, tried in this order until the whole is short enough. */
const mostTextChars = [1_000, 200, 40] as const;
