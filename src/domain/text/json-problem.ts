/**
 * Where and why a text is not valid JSON, as the end of the sentence "is not valid JSON: ..."; undefined for valid
 * JSON. `JSON.parse` does not say where it stopped.
 */
export function jsonProblem(text: string): string | undefined {
  const end = skipValue(text, skipSpace(text, 0), 0);
  const stop = typeof end === "number" ? skipSpace(text, end) : end;
  if (typeof stop === "number" && stop >= text.length) return undefined;
  const { at, expected } = typeof stop === "number" ? { at: stop, expected: "the end" } : stop;
  const lines = text.slice(0, at).split("\n");
  const column = [...(lines.at(-1) ?? "")].length + 1;
  const found = [...text.slice(at, at + 2)][0];
  const what = found === undefined ? "the text ends" : `${JSON.stringify(found)} stands`;
  return `${what} at line ${lines.length}, column ${column}, where ${expected} should be`;
}

/** The place where reading stopped, and the text expected there. */
interface Stop {
  readonly at: number;
  readonly expected: string;
}

/** Deeper than any text a person writes, and far from a stack overflow. */
const deepest = 500;

const word = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const inString = /(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/uy;
const space = /[ \t\n\r]*/y;

/** Returns the place after the value, or the place of the error. */
function skipValue(text: string, at: number, depth: number): number | Stop {
  const first = text[at];
  if (depth > deepest) return { at, expected: "less nesting" };
  if (first === '"') return skipString(text, at);
  if (first === "{" || first === "[") return skipList(text, at, depth);
  const end = after(word, text, at);
  return end === at ? { at, expected: "a value" } : end;
}

function skipString(text: string, at: number): number | Stop {
  const end = after(inString, text, at + 1);
  return text[end] === '"' ? end + 1 : { at: end, expected: 'the closing "' };
}

function skipList(text: string, start: number, depth: number): number | Stop {
  const isMap = text[start] === "{";
  const close = isMap ? "}" : "]";
  let at = skipSpace(text, start + 1);
  if (text[at] === close) return at + 1;
  for (;;) {
    if (isMap) {
      const key = text[at] === '"' ? skipString(text, at) : { at, expected: 'a name in "' };
      if (typeof key !== "number") return key;
      at = skipSpace(text, key);
      if (text[at] !== ":") return { at, expected: '":"' };
      at = skipSpace(text, at + 1);
    }
    const value = skipValue(text, at, depth + 1);
    if (typeof value !== "number") return value;
    at = skipSpace(text, value);
    if (text[at] === close) return at + 1;
    if (text[at] !== ",") return { at, expected: `"," or "${close}"` };
    at = skipSpace(text, at + 1);
  }
}

const skipSpace = (text: string, at: number): number => after(space, text, at);

function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}
