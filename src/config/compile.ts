import { existsSync, mkdirSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type ProjectPlace, sharedDirName } from "../domain/project/place.ts";
import { compiledPath, printCompiled, type ReadyConfig, type Stamp, stampOf } from "./compiled.ts";
import { type Loaded, loadConfig, readyConfig } from "./load.ts";
import { configFiles, type Environment } from "./sources.ts";

/** Loads the sources and, when they are without error, leaves the result for the fast path. */
export async function compileConfig(place: ProjectPlace, env: Environment): Promise<Loaded> {
  // Stamped before reading: a source that changes meanwhile makes the form stale instead of wrong.
  const stamp = stampIfReadable(place, env);
  const loaded = await loadConfig(configFiles(place), env);
  if (loaded.ok) keepCopies(place);
  if (loaded.ok && stamp !== undefined && isSettled(stamp, Date.now())) {
    write(place, stamp, readyConfig(loaded));
  }
  return loaded;
}

function stampIfReadable(place: ProjectPlace, env: Environment): Stamp | undefined {
  try {
    return stampOf(place, env);
  } catch {
    // The sources cannot even be looked at; loading them says why.
    return undefined;
  }
}

/**
 * File times advance in steps of up to ten milliseconds. A source written this moment may be written again within the
 * same step and look unchanged, so nothing is compiled from it until the step is over.
 */
function isSettled(stamp: Stamp, now: number): boolean {
  return stamp.sources.every(([, mtimeMs]) => mtimeMs === null || Math.abs(now - mtimeMs) > 20);
}

function write(place: ProjectPlace, stamp: Stamp, ready: ReadyConfig): void {
  // Without a state directory nothing is written: the project may have been moved away.
  if (!existsSync(place.state)) return;
  const path = compiledPath(place, stamp);
  const draft = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}.tmp`;
  try {
    makeIfMissing(dirname(path));
    writeFileSync(draft, printCompiled(stamp, ready), { mode: 0o600 });
    renameSync(draft, path);
  } catch {
    // Only a shortcut is lost (a read-only or full disk): the caller has its configuration.
    discard(draft);
  }
}

/**
 * Keeps copies of the configuration files for the time when another branch is checked out or a file is deleted. Call it
 * also after every change by a command of ours: the user may switch branches before the next command reads the files.
 */
export function keepCopies(place: ProjectPlace): void {
  // An earlier version keeps its state in the checkout, where a copy would go with the branch.
  if (place.state.endsWith(`/${sharedDirName}`) || !existsSync(place.state)) return;
  const files = configFiles(place);
  for (const layer of ["project", "local"] as const) {
    const copy = files.lastKnown[layer];
    const draft = `${copy}.${process.pid}-${Math.random().toString(36).slice(2)}.tmp`;
    try {
      if (statSync(files[layer], { throwIfNoEntry: false })?.isFile() !== true) continue;
      const bytes = readFileSync(files[layer]);
      const isThere = statSync(copy, { throwIfNoEntry: false })?.isFile() === true;
      if (isThere && readFileSync(copy).equals(bytes)) continue;
      makeIfMissing(dirname(copy));
      writeFileSync(draft, bytes, { mode: 0o600 });
      renameSync(draft, copy);
    } catch {
      // Nothing is lost as long as the file itself is there; the next change is copied again.
      discard(draft);
    }
  }
}

/** Does not make the directories above: the project may have been moved away this moment. */
function makeIfMissing(dir: string): void {
  if (!existsSync(dir)) mkdirSync(dir, { mode: 0o700 });
}

function discard(draft: string): void {
  try {
    unlinkSync(draft);
  } catch {
    // It was never written, or what kept us from renaming it also keeps us from removing it.
  }
}
