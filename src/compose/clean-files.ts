import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { targetDirs } from "../domain/worktree/classify.ts";
import { freshPath, removeAll, workMark } from "../host/git/trash.ts";
import { databaseIn, hasDatabase, sharedDir } from "../host/project-place.ts";
import type { WorktreeKeeping } from "../ports/worktrees.ts";
import { shrinkDatabase } from "../store/backup.ts";
import type { CleanFiles } from "../usecases/worktrees/run-clean.ts";
import { boundBackups, makeBackup, restoreRows } from "./backups.ts";
import { clockFor, type Project } from "./project.ts";

const bundle = "branches.bundle";

/** The files and backups of a project that cleaning works on. */
export function cleanFiles(project: Project, worktrees: WorktreeKeeping): CleanFiles {
  return {
    count: async (dir) => homesOf(project, dir).flatMap(({ path }) => entriesOf(path)).length,
    backups: () => entriesOf(join(project.dir, "backups")),
    bringBack: (name) => bringBack(project, worktrees, name),
    shrinkDatabase: () => {
      if (hasDatabase(project.dir)) shrinkDatabase(databaseIn(project.dir));
    },
    backUp: async (refs) => {
      const stamp = new Date(clockFor(project.env).now()).toISOString().replace(/[:.]/g, "-");
      const dir = makeBackup(project.dir, stamp);
      boundBackups(project.dir);
      await worktrees.bundle(join(dir, bundle), refs);
      return { name: relative(join(project.dir, "backups"), dir), path: relative(project.root, dir) };
    },
    moveTrash: async (path, backup) => {
      const to = freshPath(join(project.root, backup.path, "trash", basename(path)));
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
      renameSync(path, to);
      return to;
    },
    emptyDir: async ({ dir, backUp }, backup) => {
      for (const { path: from, kept } of homesOf(project, dir)) {
        const to = join(project.root, backup.path, kept);
        const entries = entriesOf(from);
        for (const name of entries) {
          // Work that no snapshot could hold is nowhere else.
          const holdsWork = dir === "trash" && (name.endsWith(workMark) || entries.includes(`${name}${workMark}`));
          if (!backUp && !holdsWork) removeAll(join(from, name));
          else {
            mkdirSync(to, { recursive: true, mode: 0o700 });
            renameSync(join(from, name), join(to, name));
          }
        }
      }
    },
  };
}

/** Where the entries of a target are, and under which name a backup keeps them. People read specifications in the checkout. */
function homesOf({ root, dir: state }: Pick<Project, "root" | "dir">, dir: string) {
  const statePath = { path: join(state, dir), kept: dir };
  if (dir !== "specs") return [statePath];
  return [
    { path: join(sharedDir(root), "specs"), kept: "specs" },
    { path: join(state, "specs"), kept: "spec-texts" },
  ];
}

const entriesOf = (dir: string): readonly string[] => (existsSync(dir) ? readdirSync(dir) : []);

async function bringBack(project: Project, worktrees: WorktreeKeeping, name: string) {
  const dir = join(project.dir, "backups", name);
  const has = (file: string): boolean => existsSync(join(dir, file));
  const refs = has(bundle) ? await worktrees.unbundle(join(dir, bundle)) : [];
  const rows = restoreRows(project.dir, dir);
  const files: string[] = [];
  for (const { path: home, kept } of Object.values(targetDirs).flatMap((target) => homesOf(project, target.dir))) {
    for (const entry of entriesOf(join(dir, kept))) {
      if (existsSync(join(home, entry))) continue;
      mkdirSync(home, { recursive: true });
      renameSync(join(dir, kept, entry), join(home, entry));
      files.push(join(kept, entry));
    }
  }
  return { refs, rows, files };
}
