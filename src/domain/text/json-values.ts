/**
 * Has a JSON text more values, or deeper ones, than any request? Values cost a parser far more than their text has
 * bytes: two million short keys take it ten seconds. So the text is looked at before it is parsed.
 */
export function hasTooManyValues(text: string): boolean {
  let depth = 0;
  let values = 0;
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inText) {
      if (code === backslash) at++;
      else if (code === quote) inText = false;
    } else if (code === quote) inText = true;
    else if (code === comma) {
      if (++values > mostValues) return true;
    } else if (code === openBracket || code === openBrace) {
      if (++depth > deepest || ++values > mostValues) return true;
    } else if (code === closeBracket || code === closeBrace) depth--;
  }
  return false;
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
/** Deeper than the schema of any request, and more than fits into the bounds of one. */
const deepest = 100;
const mostValues = 50_000;
