/**
 * Control bytes, text direction marks, invisible tag characters and lone surrogates: what a reader cannot see, or what
 * a terminal or a model could take for something else. Joiners stay, because scripts and emoji need them.
 */
const invisible = (): string =>
  String.raw`(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]`;

/**
 * The start of a tag in which programs put before their model what counts as their own word: with it foreign text could
 * end the frame it stands in, or begin one that looks like theirs. Any other tag is just text.
 */
const frameTag = (): string =>
  String.raw`<(?=\s*/?\s*(?:(?:system(?:-reminder)?|assistant|human|invoke|function_(?:calls?|results?)|tool_(?:use|result)|task-notification)\b|antml:|command-|local-command-|bash-|user-prompt-)|\|\w+\|>)`;

/** Compiling these classes takes a good part of a millisecond, and almost all text is plain. */
const plainLine = /^[ -;=-[\]-~]*$/;
const plainText = /^[\n\t -;=-[\]-~]*$/;
let inLine: RegExp | undefined;
let inText: RegExp | undefined;
let inJson: RegExp | undefined;

/**
 * One line that shows every character: invisible ones, line breaks included, and the starts of such tags become
 * `\u{hex}`. A backslash that would read as the start of such an escape is escaped too, so the original can always be
 * told from the picture of it.
 */
export function exactLine(text: string): string {
  if (plainLine.test(text)) return text;
  inLine ??= new RegExp(`${invisible()}|${frameTag()}|\\\\(?=u\\{)`, "giu");
  return text.replace(inLine, escaped);
}

/**
 * The same for a person's eyes, where escapes of ordinary white space are noise: a line break is `⏎`, a tab a space.
 */
export const visibleLine = (text: string): string =>
  plainLine.test(text) ? text : exactLine(text.replaceAll(/\r?\n/g, "⏎").replaceAll("\t", " "));

/** The same for text of several lines: only line feeds and tabs stay as they are. */
export function visibleText(text: string): string {
  if (plainText.test(text)) return text;
  inText ??= new RegExp(`(?![\\n\\t])${invisible()}|${frameTag()}|\\\\(?=u\\{)`, "giu");
  return text.replace(inText, escaped);
}

/** One line of JSON with the same characters as JSON's own escapes, so that a parser gets the stored value. */
export function visibleJson(json: string): string {
  inJson ??= new RegExp(`${invisible()}|${frameTag()}`, "giu");
  return json.replace(inJson, (character) => character.split("").map(codeUnit).join(""));
}

const codeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

const escaped = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/** `name:` followed by the value on the same line. Agents choose the names of payload fields, so both are foreign text. */
export const headerLine = (name: string, value: string): string => spaced(`${exactLine(name)}:`, exactLine(value));

/** Each line of foreign text behind a bar, so that none of it can begin a line. */
export function quoted(text: string): readonly string[] {
  return visibleText(text)
    .split("\n")
    .map((line) => spaced("|", line));
}

const spaced = (start: string, rest: string): string => (rest === "" ? start : `${start} ${rest}`);
