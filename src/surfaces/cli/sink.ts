import { fstatSync, readSync, statSync, writeSync } from "node:fs";

export type Written = "written" | "reader-gone";

/** Where text goes. Asking what kind of stream it is costs milliseconds on a terminal, hence functions. */
export interface Sink {
  /** Everything has been handed to the system when this says `written`. A reader that went away is not an error. */
  write(text: string): Written;
  isTTY(): boolean;
  /** A pipe of a shell, as in `ov inbox | head`. Programs that capture an answer mostly use sockets or files. */
  isPipe(): boolean;
  columns(): number | undefined;
}

/**
 * Standard output or error, written synchronously: a large answer must not be cut when the process exits, and the
 * stream classes of the platform take longer to load than a hook may take.
 */
export function fileSink(fd: 1 | 2): Sink {
  let state: Written = "written";
  return {
    write(text) {
      if (state === "written" && text !== "") state = writeAll(fd, new TextEncoder().encode(text));
      return state;
    },
    isTTY: () => isTerminal(fd),
    isPipe: () => isPipe(fd),
    columns: () => (isTerminal(fd) ? (fd === 1 ? process.stdout : process.stderr).columns : undefined),
  };
}

/** All of standard input, or undefined when a person sits at it. */
export async function readStdin(): Promise<string | undefined> {
  return isTerminal(0) ? undefined : Bun.stdin.text();
}

/** Reads standard input at once, without the stream classes of the platform, for commands that must be quick. */
export function readStdinNow(): string | undefined {
  if (isTerminal(0)) return undefined;
  const decoder = new TextDecoder();
  const piece = new Uint8Array(65_536);
  let text = "";
  for (;;) {
    try {
      const length = readSync(0, piece);
      if (length === 0) return text + decoder.decode();
      text += decoder.decode(piece.subarray(0, length), { stream: true });
    } catch (error) {
      if (codeOf(error) === "EOF") return text + decoder.decode();
      if (codeOf(error) !== "EAGAIN") throw error;
      // A pipe that another program made non-blocking is empty: the only way on is to wait for its writer.
      Bun.sleepSync(1);
    }
  }
}

/**
 * Hands over standard input line by line, as many lines at a time as have come, until it ends or until `work` says false.
 * A last line without an end counts.
 */
export async function eachLine(work: (lines: readonly string[]) => Promise<boolean>): Promise<void> {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  for await (const chunk of Bun.stdin.stream()) {
    const [first = "", ...more] = decoder.decode(chunk, { stream: true }).split("\n");
    rest.push(first);
    const last = more.pop();
    if (last === undefined) continue;
    const lines = [rest.join(""), ...more];
    rest = [last];
    if (!(await work(lines))) return;
  }
  const end = rest.join("") + decoder.decode();
  if (end !== "") await work([end]);
}

/** Asks a person at the terminal; undefined when there is none. */
export async function askAtTerminal(question: string): Promise<boolean | undefined> {
  if (!isTerminal(0) || !isTerminal(2)) return undefined;
  writeSync(2, `${question} [y/N] `);
  const answer = Buffer.alloc(64);
  const length = readSync(0, answer);
  return /^y(es)?$/i.test(answer.toString("utf8", 0, length).trim());
}

function writeAll(fd: number, bytes: Uint8Array): Written {
  let offset = 0;
  while (offset < bytes.length) {
    try {
      offset += writeSync(fd, bytes, offset);
    } catch (error) {
      const code = codeOf(error);
      // What cannot be written to stderr cannot be reported anywhere.
      if (code === "EPIPE" || (fd === 2 && code !== "EAGAIN")) return "reader-gone";
      if (code !== "EAGAIN") throw error;
      // A pipe that another program made non-blocking is full: the only way on is to wait for its reader.
      Bun.sleepSync(2);
    }
  }
  return "written";
}

/** Hooks and scripts give us pipes, files or nothing: those are told apart without loading the terminal module. */
export function isTerminal(fd: number): boolean {
  try {
    const given = fstatSync(fd);
    if (!given.isCharacterDevice() || given.rdev === statSync("/dev/null").rdev) return false;
    return process.getBuiltinModule("node:tty").isatty(fd);
  } catch (error) {
    if (codeOf(error) === "EBADF") return false;
    throw error;
  }
}

function isPipe(fd: number): boolean {
  try {
    return fstatSync(fd).isFIFO();
  } catch (error) {
    if (codeOf(error) === "EBADF") return false;
    throw error;
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);

/** One line of JSON. Text of others may hold what a terminal obeys: people look at JSON on terminals too. */
export async function jsonText(value: object): Promise<string> {
  const json = JSON.stringify(value);
  if (isPlain(json)) return json;
  const { visibleJson } = await import("../../domain/text/visible.ts");
  return visibleJson(json);
}

/** Only ASCII that can be seen: JSON has the control characters below the space in escapes. Made for long texts. */
const isPlain = (json: string): boolean => Buffer.byteLength(json) === json.length && !json.includes("\x7f");
