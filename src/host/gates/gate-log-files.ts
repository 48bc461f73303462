import { readdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { GateLogFile, GateLogPart, GateLogs } from "../../ports/gate-logs.ts";
import { errorCode, statIfThere } from "../file-access.ts";

const partBytes = 256 * 1024;
const ending = ".log";
const lineFeed = 10;

export const gateLogFiles: GateLogs = {
  list: async (dir) => {
    const found: GateLogFile[] = [];
    for (const check of namesIn(dir)) {
      for (const file of namesIn(join(dir, check))) {
        const facts = file.endsWith(ending) ? statIfThere(join(dir, check, file)) : undefined;
        if (facts === undefined) continue;
        found.push({ name: `${check}/${file.slice(0, -ending.length)}`, startedAt: Math.round(facts.birthtimeMs) });
      }
    }
    return found;
  },
  read: async (path, from, isRunning) => {
    const log = await openIfThere(path);
    if (log === undefined) return undefined;
    try {
      const parts: GateLogPart[] = [];
      for (let at = from; ; ) {
        const { buffer, bytesRead } = await log.read(new Uint8Array(partBytes), 0, partBytes, at);
        const length = wholeLines(buffer.subarray(0, bytesRead), isRunning);
        if (length === 0) return parts;
        at += length;
        parts.push({ text: new TextDecoder().decode(buffer.subarray(0, length)), end: at });
      }
    } finally {
      await log.close();
    }
  },
};

/** How many of these bytes are lines. A line that is longer than a part, and the last one of an ended gate, need no end. */
function wholeLines(bytes: Uint8Array, isRunning: boolean): number {
  const lines = bytes.lastIndexOf(lineFeed) + 1;
  if (lines > 0 && (isRunning || bytes.length === partBytes)) return lines;
  return isRunning && bytes.length < partBytes ? 0 : bytes.length;
}

/** In the order in which they were begun: their names begin with a number. */
function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir).toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return [];
    throw error;
  }
}

async function openIfThere(path: string) {
  try {
    return await open(path, "r");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
