/**
 * Cuts a growing byte stream into lines. Works on bytes, so a character or a line that arrives in pieces is whole when
 * it is handed out; what has no newline yet stays inside. Of a line above the limit only the beginning is kept, so that
 * one line never takes more memory than that, whatever a program prints.
 */
export class LineSplitter {
  readonly #mostBytes: number;
  #pieces: Uint8Array[] = [];
  /** Bytes of the open line that are kept, and all of them. */
  #kept = 0;
  #held = 0;

  constructor(mostBytes = 16 * 1024 * 1024) {
    this.#mostBytes = mostBytes;
  }

  /** The lines completed by these bytes, without their newline. */
  push(bytes: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
      lines.push(this.#join(bytes.subarray(start, end)));
      start = end + 1;
    }
    if (start < bytes.length) this.#hold(bytes.subarray(start));
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
    this.#held += piece.length;
    const room = this.#mostBytes - this.#kept;
    if (room <= 0) return;
    // A piece of its own: a view would keep the whole chunk that it was read with.
    const fits = piece.slice(0, room);
    this.#pieces.push(fits);
    this.#kept += fits.length;
  }

  #join(last: Uint8Array): string {
    if (this.#pieces.length === 0) return decoder.decode(last);
    this.#hold(last);
    const whole = new Uint8Array(this.#kept);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    this.#pieces = [];
    this.#kept = 0;
    this.#held = 0;
    return decoder.decode(whole);
  }
}

const newline = 10;
const decoder = new TextDecoder();
