import { exactLine, visibleText } from "../text/visible.ts";

/** `name:` followed by the value on the same line. Agents choose the names of payload fields, so both are foreign text. */
export const headerLine = (name: string, value: string): string => spaced(`${exactLine(name)}:`, exactLine(value));

/** Each line of foreign text behind a bar, so that none of it can begin a line. */
export function quoted(text: string): readonly string[] {
  return visibleText(text)
    .split("\n")
    .map((line) => spaced("|", line));
}

const spaced = (start: string, rest: string): string => (rest === "" ? start : `${start} ${rest}`);
