import { dlopen, ptr } from "bun:ffi";
import { closeSync, openSync, readSync, writeSync } from "node:fs";

/**
 * Makes this process look, to others, as if it recovered the log of a database after a writer was killed, until `end`.
 * Prints `recovering` when they can meet it.
 */
export async function seemToRecover(path: string, end: () => Promise<void>): Promise<void> {
  const index = openSync(`${path}-shm`, "r+");
  lock(index);
  const header = new Uint8Array(headerBytes);
  readSync(index, header, 0, headerBytes, 0);
  // Its two copies must be equal, or else the log is looked through.
  writeSync(index, new Uint8Array([header[0] === 255 ? 0 : 255]), 0, 1, 0);
  console.log("recovering");
  await end();
  writeSync(index, header, 0, headerBytes, 0);
  closeSync(index);
}

/** Two copies of 48 bytes. */
const headerBytes = 96;

/** The bytes of the index that a writer, a checkpoint and a recovery lock. */
const locks = { start: 120, count: 3 };

/** Node has no locks on parts of files, and those on whole files are of another sort. They end with the descriptor. */
function lock(file: number): void {
  const libc = dlopen("libc.so.6", { fcntl: { args: ["i32", "i32", "ptr"], returns: "i32" } });
  const wanted = new DataView(new ArrayBuffer(32));
  wanted.setInt16(0, exclusively, true);
  wanted.setBigInt64(8, BigInt(locks.start), true);
  wanted.setBigInt64(16, BigInt(locks.count), true);
  if (libc.symbols.fcntl(file, setLock, ptr(wanted.buffer)) !== 0) throw new Error("somebody has the log's locks");
}

const setLock = 6;
const exclusively = 1;
