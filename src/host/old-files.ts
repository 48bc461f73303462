import { lstatSync, readdirSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { OldFiles } from "../ports/old-files.ts";
import { errorCode } from "./writable.ts";

/** Each costs a question to the file system, and an engine that starts has other things to do. */
const mostAtOnce = 1_000;

const specName = /^([0-9a-f]{64})\.md$/;

/** What is old in the state directory of one project. */
export function oldFiles(state: string): OldFiles {
  const logs = join(state, "logs", "merge");
  const texts = join(state, "specs", ".content");
  const captured = join(state, "run", "env");
  const blobs = join(state, "mail-blobs");
  return {
    logsBefore: async (time, turn) => oldIn(logs, time, turn),
    removeLogs: async (ids) => {
      for (const id of ids) await rm(join(logs, id), { recursive: true, force: true });
    },
    specsBefore: async (time, turn) => oldIn(texts, time, turn).flatMap((name) => specName.exec(name)?.[1] ?? []),
    removeSpecs: async (digests, before) => {
      for (const digest of digests) {
        const path = join(texts, `${digest}.md`);
        if (isOlder(path, before)) rmSync(path, { force: true });
      }
    },
    environmentsBefore: async (time, turn) => oldIn(captured, time, turn).map((name) => join(captured, name)),
    blobsBefore: async (time, turn) => oldIn(blobs, time, turn),
    removeBlobs: async (names, before) => {
      for (const name of names) if (isOlder(join(blobs, name), before)) rmSync(join(blobs, name), { force: true });
    },
  };
}

/** Nothing says how old an entry is but itself, so every turn asks another part of them. */
function oldIn(dir: string, time: number, turn: number): readonly string[] {
  const names = namesIn(dir);
  const start = names.length <= mostAtOnce ? 0 : (turn * mostAtOnce) % names.length;
  const part = [...names.slice(start), ...names.slice(0, start)].slice(0, mostAtOnce);
  return part.filter((name) => isOlder(join(dir, name), time));
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    // Nothing was ever put there.
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

function isOlder(path: string, time: number): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.mtimeMs < time;
}
