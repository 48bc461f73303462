import { constants, ftruncateSync, openSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { openKeyAt } from "../../domain/text/redact.ts";
import { visibleText } from "../../domain/text/visible.ts";
import { makeWithin } from "../file-access.ts";

const MiB = 1024 * 1024;

/** A longer output keeps this much of its beginning and of its end. The end says what failed. */
export const logLimits: LogLimits = { head: MiB, tail: 3 * MiB };

export interface LogLimits {
  readonly head: number;
  readonly tail: number;
}

/** A longer line is written in parts. */
const longestLine = 64 * 1024;

export interface BoundedLogOptions {
  /** An empty file, opened for appending. */
  readonly file: number;
  /** Is given whole lines, as text with one character for each byte. */
  redact(text: string): string;
  readonly limits?: LogLimits;
}

/**
 * A log without secrets and of limited size. While the gate runs, the file has whole lines, up to the limit. `finish` shortens
 * a longer log to its beginning, a line that says how many bytes are missing, and its end.
 */
export class BoundedLog {
  readonly #file: number;
  readonly #redact: (text: string) => string;
  readonly #limits: LogLimits;
  /** Bytes that the gate has written. */
  #came = 0;
  /** How many of these bytes are in the file. */
  #shown = 0;
  /** Size of the file, which redaction makes differ from `#shown`. */
  #size = 0;
  #pending = "";
  /** Where the beginning ends that every log keeps. */
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

  /** The gate has ended: writes the last line also where it has no line end. */
  flush(): void {
    if (!this.#isTooMuch) this.#show(this.#pending.length);
  }

  /** Shortens a log that is above the limit to its beginning and its end. */
  finish(): void {
    if (!this.#isTooMuch) return;
    const recent = latin(this.#recent.bytes());
    const from = Math.max(0, recent.length - this.#limits.tail);
    const line = recent.indexOf("\n", from) + 1;
    // Where no line begins, the first bytes may be the end of a secret. `redact` cannot know half a secret.
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

/** The last bytes of an output, at least as many as are wanted. They are kept in blocks, because bytes often come one by one. */
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

/** How many characters of a text can be written without cutting a line or a private key in two. */
function wholeLines(text: string): number {
  const lines = text.lastIndexOf("\n") + 1;
  if (lines === 0) return text.length > longestLine ? text.length : 0;
  const key = openKeyAt(text.slice(0, lines));
  return key < 0 || text.length - key > longestLine ? lines : key;
}

const everyMs = 150;
/** A person cannot read more than this between two looks. */
const lookBytes = 256 * 1024;

interface Following {
  /** Tells the lines since the last look, then stops. Throws what `tell` threw. */
  stop(): Promise<void>;
}

/**
 * Tells a watcher the lines of a growing log, with control characters made visible. It never holds up the gate: lines that
 * come faster than a person can read are left out, and a line says how many bytes that were.
 */
export function follow(log: FileHandle, tell: (text: string) => void): Following {
  const stopped = Promise.withResolvers<void>();
  let isOver = false;
  const watch = async (): Promise<void> => {
    const lines = new Lines(tell);
    for (let at = 0; ; ) {
      const isLast = isOver;
      at = await look(log, at, lines);
      if (isLast) return lines.end();
      await Promise.race([stopped.promise, Bun.sleep(everyMs)]);
    }
  };
  const ended = watch().then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  return {
    stop: async () => {
      isOver = true;
      stopped.resolve();
      const failure = await ended;
      if (failure !== undefined) throw failure.error;
    },
  };
}

/** Reads the log from `from` to its end. Answers where that end is. */
async function look(log: FileHandle, from: number, lines: Lines): Promise<number> {
  const { size } = await log.stat();
  // The log is shorter than before: the command emptied it. Everything in it is new.
  const begin = size < from ? 0 : from;
  const start = Math.max(begin, size - lookBytes);
  if (start > begin) lines.skip(start - begin);
  if (size === start) return size;
  const { buffer, bytesRead } = await log.read(new Uint8Array(size - start), 0, size - start, start);
  lines.add(buffer.subarray(0, bytesRead));
  return start + bytesRead;
}

/** Turns bytes into whole lines. A line without an end waits for its end, unless the line gets too long. */
class Lines {
  readonly #tell: (text: string) => void;
  #decoder = new TextDecoder();
  #pending = "";

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  add(bytes: Uint8Array): void {
    const text = this.#pending + this.#decoder.decode(bytes, { stream: true });
    const cut = text.length > lookBytes ? text.length : text.lastIndexOf("\n") + 1;
    this.#pending = text.slice(cut);
    this.#say(text.slice(0, cut));
  }

  skip(bytes: number): void {
    this.end();
    this.#tell(`[${bytes} bytes are only in the log]\n`);
  }

  end(): void {
    this.#say(this.#pending + this.#decoder.decode());
    this.#decoder = new TextDecoder();
    this.#pending = "";
  }

  #say(text: string): void {
    if (text !== "") this.#tell(visibleText(text.replaceAll("\r\n", "\n")));
  }
}

const chunkBytes = 64 * 1024;
const tailLines = 200;

/** `file` is for appending. `reader` reads the same file, also when another file takes its name. */
export interface OpenLog {
  readonly file: number;
  readonly reader: FileHandle;
}

/** A new, empty log. */
export async function openLog(path: string): Promise<OpenLog> {
  makeWithin(dirname(path), 5);
  const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND, O_NOFOLLOW } = constants;
  const file = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, 0o600);
  return { file, reader: await open(path, "r") };
}

/** SHA-256 of the whole log as it is now, lower-case hex. */
export async function digestOf(log: FileHandle): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  const buffer = new Uint8Array(chunkBytes);
  for (let at = 0; ; ) {
    const { bytesRead } = await log.read(buffer, 0, chunkBytes, at);
    if (bytesRead === 0) return hasher.digest("hex");
    hasher.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}

/** The last lines of a log as the gate wrote them. The caller has to make control characters visible. */
export async function tailOf(log: FileHandle): Promise<string> {
  const { size } = await log.stat();
  const from = Math.max(0, size - chunkBytes);
  const { buffer, bytesRead } = await log.read(new Uint8Array(chunkBytes), 0, chunkBytes, from);
  const lines = new TextDecoder().decode(buffer.subarray(0, bytesRead)).replaceAll("\r\n", "\n").split("\n");
  const isCut = from > 0 && lines.length > 1;
  const whole = isCut ? lines.slice(1) : lines;
  const hasEnd = whole.at(-1) === "";
  return whole.slice(hasEnd ? -tailLines - 1 : -tailLines).join("\n");
}
