import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { invalid, type Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import { targetDirs } from "../domain/worktree/targets.ts";
import { freshPath, removeAll, workMark } from "../host/git/trash.ts";
import { linuxProcesses } from "../host/processes.ts";
import { databaseIn, hasDatabase, sharedDir } from "../host/project-place.ts";
import type { WorktreeKeeping } from "../ports/worktrees.ts";
import { shrinkDatabase } from "../store/backup.ts";
import type { RestoreReport, WorktreeFacet } from "../surfaces/cli/facets/worktrees.ts";
import { type CleanEffects, carryOutClean } from "../usecases/worktrees/carry-out-clean.ts";
import { cleanWorktrees } from "../usecases/worktrees/clean-worktrees.ts";
import { planClean } from "../usecases/worktrees/plan-clean.ts";
import type { WorktreeFactKeeper } from "../usecases/worktrees/ports.ts";
import { survey } from "../usecases/worktrees/survey.ts";
import { boundBackups, makeBackup, restoreRows } from "./backups.ts";
import { clockFor, type Project } from "./project.ts";
import { projectWorktrees } from "./project-worktrees.ts";
import { keptWork } from "./snapshots.ts";

/** The transactions, as the command channel runs them. */
export interface FacetCalls extends WorktreeFactKeeper {
  purgeMail: CleanEffects["purgeMail"];
}

export function makeWorktreeFacet(project: Project, calls: FacetCalls): WorktreeFacet {
  const ports = {
    worktrees: projectWorktrees(project),
    facts: withoutMaking(project, calls),
    processes: linuxProcesses,
  };
  const dirs = { count: async (dir: string) => homesOf(project, dir).flatMap(({ path }) => entriesOf(path)).length };
  return {
    list: async () => {
      const owners = await ports.facts.owners();
      return owners.ok ? ok(await survey(ports.worktrees, owners.value)) : owners;
    },
    ...keptWork(ports),
    clean: (request) => cleanWorktrees(ports, request),
    planClean: (request) => planClean({ ...ports, dirs }, request),
    carryOutClean: async (plan) => {
      const effects = effectsOf(project, ports.worktrees, calls.purgeMail);
      const done = await carryOutClean({ ...ports, effects }, plan);
      if (done.ok && hasDatabase(project.dir)) shrinkDatabase(databaseIn(project.dir));
      return done;
    },
    restore: async (name) => {
      const allowed = await ports.facts.ownersForCleaning();
      return allowed.ok ? restore(project, ports.worktrees, name) : allowed;
    },
  };
}

/** Looking at a project that has no database yet must not give it one. */
function withoutMaking({ dir, config }: Project, calls: FacetCalls): WorktreeFactKeeper {
  const nobody = ok({
    owners: [],
    live: [],
    canonicalBranch: config.project.canonicalBranch,
    takenOut: {},
    readAt: 0,
    hasOpenRun: false,
    counts: { messages: 0, usage: 0 },
  });
  const isThere = (): boolean => hasDatabase(dir);
  return {
    ...calls,
    owners: async () => (isThere() ? calls.owners() : nobody),
    ownersForCleaning: async () => (isThere() ? calls.ownersForCleaning() : nobody),
    snapshots: async () => (isThere() ? calls.snapshots() : ok({ snapshots: [] })),
  };
}

const bundle = "branches.bundle";

function effectsOf(project: Project, worktrees: WorktreeKeeping, purgeMail: CleanEffects["purgeMail"]): CleanEffects {
  return {
    purgeMail,
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

async function restore(
  project: Project,
  worktrees: WorktreeKeeping,
  name: string,
): Promise<Result<RestoreReport, Refusal>> {
  const all = join(project.dir, "backups");
  const known = entriesOf(all);
  if (!known.includes(name) || isAbsolute(name)) {
    return no(invalid("--restore", "names no backup", { value: name, allowed: known }));
  }
  const dir = join(all, name);
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
  return ok({ name, refs, rows, files });
}
