import { existsSync, lstatSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { OldFiles } from "../ports/project-files.ts";
import { errorCode, isBehindLink } from "./file-access.ts";
import { compressOutput, outputName } from "./turn-output.ts";

/** Each costs a question to the file system, and an engine that starts has other things to do. */
const mostAtOnce = 1_000;

const turnName = /-(turn-[a-z0-9]+)$/;
const specName = /^([0-9a-f]{64})\.md$/;

/** Old files in the state directory of one project. */
export function oldFiles(state: string): OldFiles {
  const logs = join(state, "logs", "merge");
  const texts = join(state, "specs", ".content");
  const captured = join(state, "run", "env");
  const blobs = join(state, "mail-blobs");
  const turns = join(state, "logs");
  const namesIn = (dir: string): readonly string[] => (isBehindLink(state, dir) ? [] : namesOf(dir));
  const oldIn = (dir: string, time: number, turn: number): readonly string[] =>
    // Nothing says how old an entry is but itself, so every turn asks another part of them.
    partOf(namesIn(dir), turn).filter((name) => isOlder(join(dir, name), time));
  const turnLogsBefore: OldFiles["turnLogsBefore"] = async (time, turn) => {
    // Directories `logs/<agent>/<time>-<turn>`. The output of gates lies beside them, in `logs/merge`.
    const dirs = namesIn(turns).filter((name) => name !== "merge");
    const all = dirs.flatMap((agent) => namesIn(join(turns, agent)).map((name) => join(turns, agent, name)));
    return partOf(all, turn).flatMap((path) => {
      const turnId = turnName.exec(basename(path))?.[1];
      return turnId !== undefined && isOlder(path, time) ? [{ path, turnId }] : [];
    });
  };
  return {
    turnLogsBefore,
    plainOutputsBefore: async (time, turn) =>
      (await turnLogsBefore(time, turn)).filter(({ path }) => existsSync(join(path, outputName))),
    compressOutput: (path) => compressOutput(join(path, outputName)),
    removeTurnLogs: async (paths) => {
      for (const path of paths) {
        await rm(path, { recursive: true, force: true });
        removeIfEmpty(dirname(path));
      }
    },
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

function removeIfEmpty(dir: string): void {
  try {
    rmdirSync(dir);
  } catch (error) {
    // The directory has other turns in it, or is gone already.
    if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(errorCode(error) ?? "")) throw error;
  }
}

function partOf(names: readonly string[], turn: number): readonly string[] {
  const start = names.length <= mostAtOnce ? 0 : (turn * mostAtOnce) % names.length;
  return [...names.slice(start), ...names.slice(0, start)].slice(0, mostAtOnce);
}

function namesOf(dir: string): readonly string[] {
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
