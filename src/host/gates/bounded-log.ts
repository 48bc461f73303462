import { ftruncateSync, writeSync } from "node:fs";
import { openKeyAt } from "../../domain/gate/redact.ts";

const MiB = 1024 * 1024;

/** Of more output than both together only so much of the beginning and of the end is kept: what failed is at the end. */
export const logLimits: LogLimits = { head: MiB, tail: 3 * MiB };

export interface LogLimits {
  readonly head: number;
  readonly tail: number;
}

/** A line that gets longer is handled in parts. */
const longestLine = 64 * 1024;

export interface BoundedLogOptions {
  /** Opened for appending, and empty. */
  readonly file: number;
  /** Gets whole lines, as text with one character for each byte. */
  redact(text: string): string;
  readonly limits?: LogLimits;
}

/**
 * A log that holds no secret and never gets large. Whoever looks at the file while it is written sees whole lines up to
 * the limit; with the end it holds the beginning, how many bytes are missing, and the end.
 */
export class BoundedLog {
  readonly #file: number;
  readonly #redact: (text: string) => string;
  readonly #limits: LogLimits;
  /** Bytes that came, of which so many are in the file; and how long the file is by that. */
  #came = 0;
  #shown = 0;
  #size = 0;
  #pending = "";
  /** How far the beginning reaches that stays whatever comes. */
  #head = { came: 0, size: 0, endsLine: true };
  readonly #recent: Recent;

  constructor({ file, redact, limits = logLimits }: BoundedLogOptions) {
    this.#file = file;
    this.#redact = redact;
    this.#limits = limits;
    this.#recent = new Recent(limits.tail);
  }

  add(bytes: Uint8Array): void {
    this.#came += bytes.length;
    this.#recent.add(bytes);
    if (this.#isTooMuch) return;
    this.#pending += latin(bytes);
    this.#show(wholeLines(this.#pending));
  }

  /** Nothing comes any more. The file then is what it stays, except for what has to be left out. */
  flush(): void {
    if (!this.#isTooMuch) this.#show(this.#pending.length);
  }

  /** Takes out what is too much. */
  finish(): void {
    if (!this.#isTooMuch) return;
    const recent = latin(this.#recent.bytes());
    const from = Math.max(0, recent.length - this.#limits.tail);
    const line = recent.indexOf("\n", from) + 1;
    // Without a line to begin with, the first bytes may be the end of a secret, which has no shape.
    const start = line > 0 && line - from <= longestLine ? line : from + Math.min(longestLine, this.#limits.tail / 2);
    const tail = recent.slice(start);
    const { came, size, endsLine } = this.#head;
    ftruncateSync(this.#file, size);
    const left = this.#came - came - tail.length;
    this.#write(`${endsLine ? "" : "\n"}[${left} bytes of output were left out here]\n${this.#redact(tail)}`);
  }

  get #isTooMuch(): boolean {
    return this.#came > this.#limits.head + this.#limits.tail;
  }

  #show(length: number): void {
    if (length === 0) return;
    const text = this.#pending.slice(0, length);
    this.#pending = this.#pending.slice(length);
    this.#shown += length;
    this.#size += this.#write(this.#redact(text));
    if (this.#shown > this.#limits.head) return;
    this.#head = { came: this.#shown, size: this.#size, endsLine: text.endsWith("\n") };
  }

  #write(text: string): number {
    const bytes = Buffer.from(text, "latin1");
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    return bytes.length;
  }
}

/** The last bytes that came, at least as many as are wanted; in blocks, because many come one by one. */
class Recent {
  readonly #blocks: Buffer[] = [];
  readonly #most: number;
  /** How full the last block is. */
  #filled = blockBytes;

  constructor(wanted: number) {
    this.#most = Math.ceil(wanted / blockBytes) + 1;
  }

  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#filled === blockBytes) this.#next();
      const part = bytes.subarray(at, at + blockBytes - this.#filled);
      this.#blocks.at(-1)?.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
    }
  }

  bytes(): Uint8Array {
    const last = this.#blocks.at(-1)?.subarray(0, this.#filled) ?? Buffer.alloc(0);
    return Buffer.concat([...this.#blocks.slice(0, -1), last]);
  }

  #next(): void {
    const oldest = this.#blocks.length < this.#most ? undefined : this.#blocks.shift();
    this.#blocks.push(oldest ?? Buffer.allocUnsafe(blockBytes));
    this.#filled = 0;
  }
}

const blockBytes = 64 * 1024;

const latin = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");

/** How much of a text can be handled without tearing a line, or a private key, apart. */
function wholeLines(text: string): number {
  const lines = text.lastIndexOf("\n") + 1;
  if (lines === 0) return text.length > longestLine ? text.length : 0;
  const key = openKeyAt(text.slice(0, lines));
  return key < 0 || text.length - key > longestLine ? lines : key;
}
