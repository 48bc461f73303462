import { closeSync, lstatSync, openSync, readdirSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Redact } from "../domain/text/redact.ts";
import { LineRedactor } from "../domain/text/redact-lines.ts";

const chunkBytes = 1024 * 1024;
const deepest = 6;

/**
 * Takes secrets out of all files in a directory. No process may be writing to them any more. A file without secrets is
 * not touched; another one is replaced in one step, so a process that dies on the way leaves each file as it was or as
 * it should be. Links are left alone: they lead to files of others.
 */
export async function redactFiles(dir: string, redact: Redact, depth = 0): Promise<void> {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory() && depth < deepest) await redactFiles(path, redact, depth + 1);
    if (entry.isFile() && (await hasSecret(path, redact))) await rewrite(path, redact);
  }
}

async function hasSecret(path: string, redact: Redact): Promise<boolean> {
  const [came, left] = [new Bun.CryptoHasher("sha1"), new Bun.CryptoHasher("sha1")];
  for await (const { before, after } of pieces(path, redact)) {
    came.update(before, "latin1");
    left.update(after, "latin1");
  }
  return came.digest("hex") !== left.digest("hex");
}

async function rewrite(path: string, redact: Redact): Promise<void> {
  const beside = `${path}.redacted`;
  // An agent may have put a link there, which would lead our text into a file of its person.
  rmSync(beside, { recursive: true, force: true });
  const file = openSync(beside, "wx", lstatSync(path).mode & 0o777);
  try {
    for await (const { after } of pieces(path, redact)) {
      const bytes = Buffer.from(after, "latin1");
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    }
    renameSync(beside, path);
  } finally {
    closeSync(file);
    rmSync(beside, { force: true });
  }
}

/** The text read next, and the text that is decided: the second lags behind, but both become the whole file. */
interface Piece {
  readonly before: string;
  readonly after: string;
}

/** The file in pieces, as text with one character for each byte, so that every byte comes through. */
async function* pieces(path: string, redact: Redact): AsyncGenerator<Piece> {
  const file = openSync(path, "r");
  try {
    const lines = new LineRedactor(inBytes(redact));
    const buffer = Buffer.alloc(chunkBytes);
    let rest = "";
    let isFirst = true;
    // The line end belongs before each line but the first, so that the last one gets none.
    const written = (done: readonly string[]): string => {
      if (done.length === 0) return "";
      const text = `${isFirst ? "" : "\n"}${done.join("\n")}`;
      isFirst = false;
      return text;
    };
    for (;;) {
      const before = buffer.toString("latin1", 0, readSync(file, buffer, 0, chunkBytes, null));
      if (before === "") break;
      const whole = (rest + before).split("\n");
      rest = whole.pop() ?? "";
      yield { before, after: written(whole.flatMap((line) => lines.push(line))) };
      // The lease of the turn is kept alive meanwhile.
      await new Promise((resolve) => setImmediate(resolve));
    }
    yield { before: "", after: written([...lines.push(rest), ...lines.flush()]) };
  } finally {
    closeSync(file);
  }
}

/** Works on the text that the bytes are, if they are one. */
const inBytes =
  (redact: Redact): Redact =>
  (bytes) => {
    if (!/[^\0-\x7f]/.test(bytes)) return redact(bytes);
    const text = Buffer.from(bytes, "latin1").toString("utf8");
    return text.includes("\ufffd") ? redact(bytes) : Buffer.from(redact(text), "utf8").toString("latin1");
  };
