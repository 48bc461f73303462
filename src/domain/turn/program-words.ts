/** Enough for a sentence, and for the frame of a stack trace. */
const mostChars = 500;
/** As many lines as a stack trace mostly has. */
const mostLines = 20;

/**
 * What a person is shown of a line of a program's output that is no event: a warning, a hint to log in, a stack trace. Nothing
 * of a line that looks like a part of a key: a key of several lines is recognised as a secret only as a whole.
 */
export function shownWords(line: string): string {
  const words = line.trimEnd();
  if (/^\s*[A-Za-z0-9+/=_-]{40,}$/.test(words)) return "";
  return words.length <= mostChars ? words : `${words.slice(0, mostChars)}…`;
}

/** The newest lines of a program's output that are no events: where its turn fails, they mostly say why. */
export class LastWords {
  readonly #lines: string[] = [];

  add(line: string): void {
    const words = shownWords(line);
    // Brackets alone are pieces of JSON, and tell a person nothing.
    if (!/\p{L}/u.test(words)) return;
    this.#lines.push(words);
    if (this.#lines.length > mostLines) this.#lines.shift();
  }

  get text(): string {
    return this.#lines.join("\n");
  }
}

/**
 * The reason of a failure with what the program wrote about it, to its error output and between its events, as far as the reason
 * does not have it.
 */
export function reasonWith(reason: string, ...written: readonly string[]): string {
  const more = written.map((text) => text.trim().slice(-mostReasonChars));
  const news = more.filter((text) => text !== "" && !reason.includes(text));
  return [reason, news.join("\n")].filter((part) => part !== "").join(": ");
}

/** Whether a reason has what the program wrote already. */
export const tells = (reason: string, written: string): boolean => reasonWith(reason, written) === reason;

const mostReasonChars = 1_000;
