import { type Redact, redactData } from "./redact.ts";

/** A longer run of parts, or of plain lines, is looked at in pieces. */
const longestRun = 256 * 1024;
/** A line that brings a part of a text is short. */
const longestPart = 16 * 1024;

/**
 * Takes secrets out of the lines of a program's output. A line that is JSON stays JSON. Programs print a text in parts
 * while a model writes it, one part in a line: a secret may begin in one line and end in the next. So the parts of one
 * text are looked at together, and plain lines too, where a private key has many.
 */
export class LineRedactor {
  readonly #redact: Redact;
  #run: Run | undefined;
  #plain: string[] = [];
  #plainChars = 0;

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  /** Answers the lines that are decided by now. Others wait for the next ones. */
  push(line: string): readonly string[] {
    const data = objectIn(line);
    if (data === undefined) return [...this.#endRun(), ...this.#addPlain(line)];
    const part = line.length > longestPart ? undefined : partOf(data);
    if (part === undefined) return [...this.flush(), this.#alone(line, data)];
    const fits = this.#run?.key === part.key && this.#run.chars < longestRun;
    const before = fits ? [] : this.flush();
    this.#run ??= { key: part.key, chars: 0, lines: [] };
    this.#run.chars += part.text.length;
    this.#run.lines.push({ line, data, part });
    return before;
  }

  flush(): readonly string[] {
    return [...this.#endPlain(), ...this.#endRun()];
  }

  #alone(line: string, data: object): string {
    // The line as it is shows all secrets, unless some of its characters are written by their numbers.
    if (!/\\u00|\\\//.test(line) && this.#redact(line) === line) return line;
    const left = redactData(data, this.#redact);
    return left === data ? line : JSON.stringify(left);
  }

  #addPlain(line: string): readonly string[] {
    const before = this.#plainChars > longestRun ? this.#endPlain() : [];
    this.#plain.push(line);
    this.#plainChars += line.length;
    return before;
  }

  #endPlain(): readonly string[] {
    if (this.#plain.length === 0) return [];
    const text = this.#plain.join("\n");
    this.#plain = [];
    this.#plainChars = 0;
    return this.#redact(text).split("\n");
  }

  #endRun(): readonly string[] {
    const lines = this.#run?.lines ?? [];
    this.#run = undefined;
    // Each one first: whole texts that follow each other are no parts, and what follows a secret may hide its end.
    const each = lines.map(({ part }) => this.#redact(part.text));
    const left = this.#redact(each.join(""));
    if (left === each.join("")) return lines.map(({ line, data }) => this.#alone(line, data));
    // The first part becomes the whole text.
    return lines.map(({ data, part }, at) => {
      part.replace(at === 0 ? left : "");
      return this.#alone(JSON.stringify(data), data);
    });
  }
}

interface Run {
  readonly key: string;
  chars: number;
  readonly lines: { readonly line: string; readonly data: object; readonly part: Part }[];
}

interface Part {
  /** The same for the parts of one text. */
  readonly key: string;
  readonly text: string;
  replace(text: string): void;
}

const partNames: ReadonlySet<string> = new Set([
  "text",
  "thinking",
  "partial_json",
  "delta",
  "deltaContent",
  "content",
  "chunk",
  "output",
]);

/** The first text of a line that may be a part of a longer one. */
function partOf(data: object, path = "", depth = 0): Part | undefined {
  if (depth > 6) return undefined;
  const holder = data as Record<string, unknown>;
  const kind = typeof holder.type === "string" ? holder.type : "";
  for (const [name, value] of Object.entries(holder)) {
    const key = `${path}/${kind}.${name}`;
    if (typeof value === "string" && partNames.has(name))
      return {
        key,
        text: value,
        replace: (text) => {
          holder[name] = text;
        },
      };
    const inner = typeof value === "object" && value !== null ? partOf(value, key, depth + 1) : undefined;
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function objectIn(line: string): object | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as object;
  } catch {
    // A line that was cut off, or a program that prints something else.
    return undefined;
  }
}
