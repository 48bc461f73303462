/**
 * Text written by others, made harmless for a terminal: control bytes, escape sequences and characters that reorder
 * text are shown as escapes instead of being obeyed. Newlines and tabs stay.
 */
export const visible = (text: string): string => escaped(text, keepsLines);

/** The same for places that hold one line, such as a cell of a table: newlines and tabs are shown too. */
export const visibleLine = (text: string): string => escaped(text, () => false);

const keepsLines = (code: number): boolean => code === 0x0a || code === 0x09;

function escaped(text: string, kept: (code: number) => boolean): string {
  let result = "";
  let copied = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (!isUnsafe(code) || kept(code)) continue;
    result += text.slice(copied, i) + spelled(code);
    copied = i + 1;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

function isUnsafe(code: number): boolean {
  if (code < 0x20) return true;
  if (code < 0x7f) return false;
  return code <= 0x9f || reorders(code);
}

/** Marks, embeddings, overrides and isolates of the bidirectional algorithm, and the two separators that end a line. */
function reorders(code: number): boolean {
  if (code === 0x061c || code === 0x200e || code === 0x200f) return true;
  return (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

function spelled(code: number): string {
  if (code === 0x0a) return "\\n";
  if (code === 0x09) return "\\t";
  if (code === 0x0d) return "\\r";
  const hex = code.toString(16);
  return code < 0x100 ? `\\x${hex.padStart(2, "0")}` : `\\u${hex.padStart(4, "0")}`;
}
