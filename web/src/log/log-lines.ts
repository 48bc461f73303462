/** One line of an output. `open`: colours that an earlier line switched on. */
export interface LogLine {
  readonly text: string;
  readonly open: string;
  /** It tells that something went wrong. */
  readonly isError: boolean;
}

export interface LogPart {
  readonly seq: number;
  readonly text: string;
}

/** More lines than these are no reading for a person; the oldest go first. */
const mostLines = 50_000;

const colour = new RegExp(`${"\u001b"}\\[[0-9;:]*m`, "g");
const reset = new RegExp(`^${"\u001b"}\\[0*m$`);

/** The lines of an output that grows. What was read before is not read again. */
export class LogLines {
  #lines: LogLine[] = [];
  #dropped = 0;
  #rest = "";
  #open = "";
  #seen: readonly LogPart[] = [];

  /** The lines of these parts, and how many lines before them were left out. */
  take(parts: readonly LogPart[]): { readonly lines: readonly LogLine[]; readonly dropped: number } {
    const isSame = this.#seen.every(({ seq }, at) => parts[at]?.seq === seq);
    if (!isSame) this.#clear();
    const fresh = parts.slice(this.#seen.length);
    if (fresh.length > 0) this.#add(fresh.map(({ text }) => text).join(""));
    this.#seen = parts;
    const last = this.#rest === "" ? [] : [lineOf(this.#rest, this.#open)];
    return { lines: last.length === 0 ? this.#lines : [...this.#lines, ...last], dropped: this.#dropped };
  }

  #clear(): void {
    this.#lines = [];
    this.#dropped = 0;
    this.#rest = "";
    this.#open = "";
    this.#seen = [];
  }

  #add(text: string): void {
    const whole = (this.#rest + text).split("\n");
    this.#rest = whole.pop() ?? "";
    const added = whole.map((line) => {
      const open = this.#open;
      for (const [code] of line.matchAll(colour)) this.#open = reset.test(code) ? "" : this.#open + code;
      return lineOf(line, open);
    });
    // A new list each time: a component sees that it changed.
    const all = [...this.#lines, ...added];
    this.#dropped += Math.max(0, all.length - mostLines);
    this.#lines = all.length > mostLines ? all.slice(-mostLines) : all;
  }
}

const lineOf = (text: string, open: string): LogLine => ({ text, open, isError: isError(text.replace(colour, "")) });

export const plainLine = ({ text }: Pick<LogLine, "text">): string => text.replace(colour, "");

const trouble = /\b(?:error|fail(?:ed|ure|ing)?|fatal|panic(?:ked)?|exception|not ok)\b|[✗✘×]/i;
const harmless = /\b(?:0|no) (?:errors?|failed|failures?|failing)\b/i;

/** Counts of nothing tell of no trouble. */
const isError = (plain: string): boolean => trouble.test(plain) && !harmless.test(plain);
