import { constants, openSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { makeWithin } from "../writable.ts";

const chunkBytes = 64 * 1024;
const tailLines = 200;

/** A log that was opened: `file` is for appending; `reader` sees the same file whatever happens to its name. */
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

/** The last lines of a log as they are: whoever shows them makes them visible. */
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

/** The same for the log of an earlier run; empty when it is no longer there. */
export async function logTail(path: string): Promise<string> {
  let log: FileHandle;
  try {
    log = await open(path, "r");
  } catch (error) {
    // Logs are cleaned up before the results that name them.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
  try {
    return await tailOf(log);
  } finally {
    await log.close();
  }
}
