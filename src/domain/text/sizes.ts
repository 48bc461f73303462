import { type InvalidInput, invalid } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";

const kib = 1024;

/** The most bytes a text may have, by its kind. A longer text is refused before anything is stored. */
export const sizes = {
  /** One line: a subject, a title. */
  line: 2 * kib,
  /** A path or a pattern of paths. */
  pattern: kib,
  /** A few paragraphs: a description, an objective, a summary, a nudge. */
  text: 64 * kib,
  /** JSON beside a message. */
  payload: 64 * kib,
  /** A specification: agents read it whole, and a megabyte is more than a model takes in. */
  spec: kib * kib,
  /** A document: the whole body of a message (above `mail.maxBodyBytes` it is kept in a file). */
  document: 16 * kib * kib,
} as const;

export function checkSize(field: string, text: string | null | undefined, most: number): Result<null, InvalidInput> {
  if (text === null || text === undefined) return ok(null);
  const bytes = utf8Length(text);
  if (bytes <= most) return ok(null);
  return no(invalid(field, `has ${sizeWords(bytes)}; ${sizeWords(most)} are allowed`));
}

/** The first of several sizes that is not allowed. */
export function checkSizes(
  ...texts: readonly (readonly [field: string, text: string | null | undefined, most: number])[]
): Result<null, InvalidInput> {
  for (const [field, text, most] of texts) {
    const checked = checkSize(field, text, most);
    if (!checked.ok) return checked;
  }
  return ok(null);
}

const sizeWords = (bytes: number): string =>
  bytes < 10 * kib
    ? `${bytes} bytes`
    : bytes < kib * kib
      ? `${Math.round(bytes / kib)} KiB`
      : `${Math.round(bytes / kib / kib)} MiB`;

/** Bytes of the text as it is stored. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // Half of a pair is counted as two of the four bytes of its character.
    bytes += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
  }
  return bytes;
}

/**
 * A value for the record of events: long texts in it are cut, with a word on how much is missing. The raw output of the
 * turn has the whole.
 */
export function shortened(value: unknown, mostChars: number): unknown {
  if (typeof value === "string") {
    if (value.length <= mostChars) return value;
    return `${value.slice(0, mostChars)}… (${value.length - mostChars} more characters)`;
  }
  if (Array.isArray(value)) {
    const kept = value.slice(0, mostItems).map((item) => shortened(item, mostChars));
    return value.length <= mostItems ? kept : [...kept, `… (${value.length - mostItems} more)`];
  }
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value);
  const kept = fields.slice(0, mostItems).map(([name, item]) => [name.slice(0, 200), shortened(item, mostChars)]);
  const rest = fields.length <= mostItems ? [] : [["…", `${fields.length - mostItems} more`]];
  return Object.fromEntries([...kept, ...rest]);
}

const mostItems = 200;
