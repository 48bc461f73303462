/**
 * Cuts a growing byte stream into lines. Works on bytes, so a character or a line that arrives in pieces is whole when
 * it is handed out; what has no newline yet stays inside.
 */
export class LineSplitter {
  #pieces: Uint8Array[] = [];
  #held = 0;

  /** The lines completed by these bytes, without their newline. */
  push(bytes: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
      lines.push(this.#join(bytes.subarray(start, end)));
      start = end + 1;
    }
    if (start < bytes.length) this.#hold(bytes.slice(start));
    return lines;
  }

  /** Bytes held back because their line is not complete. */
  get pending(): number {
    return this.#held;
  }

  /** The last line of a stream that ended without a newline, if any. */
  flush(): string | undefined {
    return this.#held === 0 ? undefined : this.#join(new Uint8Array());
  }

  #hold(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#held += piece.length;
  }

  #join(last: Uint8Array): string {
    if (this.#pieces.length === 0) return decoder.decode(last);
    const whole = new Uint8Array(this.#held + last.length);
    let at = 0;
    for (const piece of [...this.#pieces, last]) {
      whole.set(piece, at);
      at += piece.length;
    }
    this.#pieces = [];
    this.#held = 0;
    return decoder.decode(whole);
  }
}

const newline = 10;
const decoder = new TextDecoder();
