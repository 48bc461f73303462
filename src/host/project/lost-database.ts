import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { Failure } from "../../domain/failure.ts";
import type { ProjectPlace } from "../../domain/project/place.ts";
import { readText } from "../file-access.ts";
import { databaseIn, hasDatabase, isOldState, newestBackup, readRecord, sharedDir } from "../project-place.ts";
import { hidesFromGit } from "./record.ts";

/** A state that had a database must not be given an empty one without a word. */
export function refuseLostDatabase({ root, state }: ProjectPlace): void {
  if (hasDatabase(state)) return;
  const entries = (dir: string): readonly string[] =>
    existsSync(join(state, dir)) ? readdirSync(join(state, dir)) : [];
  const isUsed =
    readRecord(state) !== undefined ||
    ["backups", "logs", "agents", "mail-blobs"].some((dir) => entries(dir).length > 0) ||
    hasTracesOfAgents({ root, state }) ||
    // Written once a database had been made, and in no clone.
    (!isOldState(state) && hidesFromGit({ root }));
  // Another process may have made the database since the first look, and these traces after it.
  if (isUsed && !hasDatabase(state))
    throw new Failure({ kind: "store-lost", path: databaseIn(state), backup: newestBackup(state) });
}

/**
 * Did agents of a project of this repository work? Their worktrees, branches and snapshot refs lie outside of the state
 * directory. A branch with a remote in git's configuration was fetched from another machine and does not count, nor do
 * the refs that a project keeps in its submodules: there this repository is the submodule. A bare clone has the branches
 * of its original, and a mirror all its refs: a clone packs them and writes no log of them.
 */
function hasTracesOfAgents({ root, state }: ProjectPlace): boolean {
  if (isOldState(state)) return false;
  const common = dirname(state);
  const textOf = (name: string): string => readText(join(common, name)) ?? "";
  const config = textOf("config");
  const all = textOf("packed-refs").split("\n");
  const packed = /^\s*mirror = true$/m.test(config) ? [] : all;
  const packedHeads = config.includes('[remote "') ? [] : packed;
  const hasRefs = (below: string, besides?: string): boolean =>
    (below.startsWith("refs/heads/") ? packedHeads : packed).some(
      (line) => line.includes(` ${below}`) && (besides === undefined || !line.includes(` ${below}${besides}`)),
    ) ||
    hasFiles(join(common, below), besides) ||
    hasFiles(join(common, "logs", below), besides);
  if (hasRefs("refs/overstory/", "sub/")) return true;
  // Version 0.11 had worktrees and branches of the same names, and no refs of its own.
  if (existsSync(join(sharedDir(root), "sessions.db"))) return false;
  if (hasFiles(join(sharedDir(root), "worktrees"))) return true;
  return hasRefs("refs/heads/overstory/") && !config.includes('[branch "overstory/');
}

/** Git leaves empty folders behind when it deletes refs. */
function hasFiles(dir: string, besides?: string): boolean {
  if (!existsSync(dir)) return false;
  const skipped = besides === undefined ? undefined : join(dir, besides);
  return readdirSync(dir, { recursive: true, withFileTypes: true }).some(
    (entry) => !entry.isDirectory() && (skipped === undefined || !`${entry.parentPath}/`.startsWith(skipped)),
  );
}
