import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { GrowingFile, TurnOutputs } from "../ports/agent-process.ts";
import { expectRegular } from "./file-access.ts";

/** In the directory of a turn: what the agent's program wrote. */
export const outputName = "stdout.ndjson";

/** Another file that a link leads to is no output of this agent. */
const noLink = constants.O_RDONLY | constants.O_NOFOLLOW;

const chunkBytes = 4 * 1024 * 1024;

const compressedAt = (path: string): string => `${path}.zst`;

/**
 * Compresses what an agent's program wrote in a turn that has settled: zstd, a frame for every four megabytes, so that
 * no more than these are in memory. The compressed file takes the place of the other in one step. Safe to repeat: with
 * both there, the compressed one is whole.
 */
export async function compressOutput(path: string): Promise<void> {
  if (!existsSync(path)) return;
  if (!existsSync(compressedAt(path))) await writeCompressed(path);
  rmSync(path, { force: true });
}

async function writeCompressed(path: string): Promise<void> {
  expectRegular(path);
  const beside = `${compressedAt(path)}.part`;
  // An agent may have put a link there, which would lead what we write into a file of its person.
  rmSync(beside, { recursive: true, force: true });
  const [from, to] = [openSync(path, noLink), openSync(beside, "wx", 0o600)];
  try {
    const buffer = Buffer.alloc(Math.min(chunkBytes, Math.max(1, statSync(path).size)));
    for (;;) {
      const read = readSync(from, buffer, 0, buffer.length, null);
      if (read === 0) break;
      const frame = await Bun.zstdCompress(buffer.subarray(0, read));
      for (let at = 0; at < frame.length; ) at += writeSync(to, frame, at);
    }
    // The other file goes next: a power cut must not leave a name without its bytes.
    fsyncSync(to);
    renameSync(beside, compressedAt(path));
    syncDirectory(dirname(path));
  } finally {
    closeSync(from);
    closeSync(to);
    rmSync(beside, { force: true });
  }
}

function syncDirectory(path: string): void {
  const directory = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** What an agent's program wrote: while it writes, and after it was compressed. */
export function turnOutput(path: string): GrowingFile {
  let file: number | undefined;
  let whole: Uint8Array | undefined;
  const compressed = (): Uint8Array | undefined => {
    if (whole === undefined && file === undefined && !existsSync(path) && existsSync(compressedAt(path))) {
      expectRegular(compressedAt(path));
      const bytes = readFileSync(compressedAt(path));
      whole = bytes.length === 0 ? bytes : Bun.zstdDecompressSync(bytes);
    }
    return whole;
  };
  return {
    // A file that is open is read to its end, also after its name was taken away.
    size: () =>
      file === undefined
        ? (compressed()?.length ?? statSync(path, { throwIfNoEntry: false })?.size ?? 0)
        : fstatSync(file).size,
    read: (offset, length) => {
      if (length === 0) return new Uint8Array();
      const known = compressed();
      if (known !== undefined) return known.subarray(offset, offset + length);
      if (file === undefined) expectRegular(path);
      file ??= openSync(path, noLink);
      const bytes = new Uint8Array(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
    },
  };
}

/** Opens the file for each part and closes it again, because a reader does not say when it has read enough. */
export const turnOutputs: TurnOutputs = {
  read: (logDir, { before, most }) => {
    const path = join(logDir, outputName);
    const isPlain = existsSync(path);
    if (!isPlain && !existsSync(compressedAt(path))) return { from: 0, size: 0, bytes: new Uint8Array() };
    if (!isPlain) return lastPart(turnOutput(path), before, most);
    expectRegular(path);
    const file = openSync(path, noLink);
    try {
      const read: GrowingFile["read"] = (offset, length) => {
        const bytes = new Uint8Array(length);
        return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
      };
      return lastPart({ size: () => fstatSync(file).size, read }, before, most);
    } finally {
      closeSync(file);
    }
  },
};

function lastPart(file: GrowingFile, before: number | null, most: number): ReturnType<TurnOutputs["read"]> {
  const size = file.size();
  const end = Math.min(size, before ?? size);
  const from = Math.max(0, end - most);
  return { from, size, bytes: file.read(from, end - from) };
}
