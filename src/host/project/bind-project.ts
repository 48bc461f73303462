import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../domain/failure.ts";
import type { ProcessIdentity } from "../../domain/process/process.ts";
import type { ProjectPlace, ProjectRecord } from "../../domain/project/place.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DatabaseFiles } from "../../ports/database-files.ts";
import type { ReachKillPoint } from "../../ports/kill-points.ts";
import { readIdentity } from "../engine-contact/keeper.ts";
import { errorCode, statIfThere } from "../file-access.ts";
import { directoryIdentity } from "../git/places.ts";
import { randomIds } from "../ids.ts";
import { bootId } from "../linux/process-table.ts";
import { askToEnd, linuxProcesses } from "../processes.ts";
import {
  databaseIn,
  type FoundPlace,
  hasDatabase,
  identityOf,
  isOldState,
  newestBackup,
  placeAround,
  readRecord,
  sharedDir,
  stateDir,
} from "../project-place.ts";
import { hideFromGit, makeStateDir, moveInto, repairWorktrees, withStateLock, writeRecord } from "./record.ts";

export interface BindingTerms {
  readonly databases: DatabaseFiles;
  readonly clock: Clock;
  readonly reach: ReachKillPoint;
  /** An agent's command or a service takes the place as it is. */
  readonly leavesPlaces: boolean;
}

/** Keeps a state directory and the place it is used at together. */
export interface ProjectBinding {
  /**
   * Sees to it that a state directory belongs to the place it is used at, before a person's command uses it. What it
   * finds:
   *
   *   no record          nothing to do: the first use of the store writes it
   *   an old state       in `.overstory/`, of an earlier version: it is moved, once nothing of it is in use
   *   another root       the recorded checkout is gone: the caller's is the root from now on
   *   moved              paths in the database and links of worktrees are written as they are now
   *   a copy             refused: its processes and worktrees are those of the original; `adopt` makes it a project of its own
   *
   * Every step may be the last, and is done again by the next call.
   */
  bind(found: FoundPlace, options?: { readonly adopt?: boolean }): Promise<ProjectPlace>;
  /** Writes down where the project is, under the id that its database has or gets. */
  record(place: ProjectPlace): Promise<ProjectPlace>;
}

export const projectBinding = (terms: BindingTerms): ProjectBinding => ({
  bind: async (found, { adopt = false } = {}) => {
    if (found.isBound || terms.leavesPlaces) return found;
    const state = stateDir(found.root);
    if (isOldState(found.state)) return moveOldState({ root: found.root, state }, terms);
    if (readRecord(state) === undefined) return found;
    try {
      return await withStateLock(state, async () => {
        const now = placeAround(found.root);
        const known = readRecord(state);
        return now.isBound || known === undefined ? now : rebindPlace(now, known, { ...terms, adopt });
      });
    } catch (error) {
      // On a medium that cannot be written there is nothing to bind, and reading is all that is possible.
      if (error instanceof Failure && error.data.kind === "store-read-only") return found;
      throw error;
    }
  },
  record: (place) => recordPlace(place, terms),
});

async function recordPlace(place: ProjectPlace, { databases, clock }: BindingTerms): Promise<ProjectPlace> {
  makeStateDir(place.state);
  const id = await databases.projectIdIn(databaseIn(place.state), randomIds.next("project", 20), clock.now());
  hideFromGit(place);
  writeRecord(place, { id, formerRoots: readRecord(place.state)?.formerRoots ?? [] });
  rmSync(join(place.state, movingName), { force: true });
  return place;
}

/** The same project at another path, or with another checkout as its root. */
async function rebindPlace(
  { root, state }: ProjectPlace,
  known: ProjectRecord,
  { adopt, databases, clock }: BindingTerms & { readonly adopt: boolean },
): Promise<ProjectPlace> {
  const copied = isCopy(state, known, databases);
  if (copied && !adopt) throw new Failure({ kind: "project-copied", root, original: known.root });
  const moved = [
    { from: known.state, to: state },
    { from: known.root, to: root },
  ];
  const common = state.slice(0, state.lastIndexOf("/"));
  for (const each of moved) repairWorktrees(common, each);
  const rebinding = { moved, identityOf: identityIfThere };
  hideFromGit({ root });
  if (!copied) {
    if (hasDatabase(state)) databases.rebindPaths(databaseIn(state), rebinding);
    writeRecord({ root, state }, { id: known.id, formerRoots: [...known.formerRoots, known.root] });
    return { root, state };
  }
  const id = randomIds.next("project", 20);
  if (hasDatabase(state)) databases.detachCopy(databaseIn(state), { ...rebinding, id, now: clock.now() });
  // The processes named in these copied files work for the original project.
  for (const name of ["engine.json", "keeper.json", "keeper.lock", "mcp.json"])
    rmSync(join(state, "run", name), { force: true });
  writeRecord({ root, state }, { id });
  return { root, state };
}

/**
 * A moved directory is the same directory. Another one is a copy while the original is where it was. It is also a copy
 * when its database knows processes that run, or a turn that was running since this system started: the copy was made in
 * the middle of that turn, and only the original knows its end. Else it was restored, or moved from another disk.
 */
function isCopy(state: string, known: ProjectRecord, databases: DatabaseFiles): boolean {
  const here = identityOf(state);
  if (here?.device === known.device && here.inode === known.inode) return false;
  if (known.state !== state && readRecord(known.state)?.id === known.id && !isSame(state, known.state)) return true;
  const isOfTurn = ({ role, bootId: boot }: { role: string; bootId: string }): boolean =>
    (role === "supervisor" || role === "agent") && boot === bootId();
  return (
    hasDatabase(state) && databases.openProcessesIn(databaseIn(state)).some((each) => isOfTurn(each) || isAlive(each))
  );
}

function isSame(a: string, b: string): boolean {
  const [one, other] = [identityOf(a), identityOf(b)];
  return one !== undefined && one.device === other?.device && one.inode === other.inode;
}

const isAlive = (identity: ProcessIdentity): boolean => linuxProcesses.check(identity) !== "gone";

const identityIfThere = (path: string): string | undefined =>
  statIfThere(path)?.isDirectory() === true ? directoryIdentity(path) : undefined;

/** Directories with state of an earlier version. Other files in `run/` are made again when needed. */
const oldDirs = ["logs", "mail-blobs", "trash", "backups", "agents", "prompts", "specs/.content", "run/env"];
const oldFiles = ["run/hooks-before.json", "run/engine.log", "run/supervisors.log"];

/** An engine that leaves first finishes the worktree it is making. */
const leaveMs = 15_000;

/**
 * Moves the state that an earlier version kept in the checkout. The database goes first and takes its new paths with
 * it; from then on the new one counts. While turns of the earlier version run they use the old paths, so it waits for the
 * first command that finds none.
 */
async function moveOldState(place: ProjectPlace, terms: BindingTerms): Promise<ProjectPlace> {
  const old = { root: place.root, state: sharedDir(place.root) };
  const { databases, clock, reach } = terms;
  const works = (database: string): boolean => workIn(databases, database).some(isAlive);
  const { root, state } = place;
  try {
    makeStateDir(state);
    return await withStateLock(state, async () => {
      const now = placeAround(root);
      if (!isOldState(now.state)) return now;
      const from = databaseIn(old.state);
      if (!databases.wasMoved(from)) {
        await databases.projectIdIn(from, randomIds.next("project", 20), clock.now());
        if (works(from) || !(await engineLeft(old.state)) || works(from)) return old;
        refuseSecondDatabase(state);
        writeFileSync(join(state, movingName), "", { mode: 0o600 });
        reach("state.before-copy");
        const moved = oldDirs.map((dir) => ({ from: join(old.state, dir), to: join(state, dir) }));
        const rebinding = { moved, identityOf: identityIfThere };
        databases.moveDatabase({ from, to: databaseIn(state), ...rebinding, copied: () => reach("state.after-copy") });
      }
      reach("state.after-move");
      for (const name of [...oldDirs, ...oldFiles]) moveInto(join(old.state, name), join(state, name));
      rmSync(join(old.state, "run"), { recursive: true, force: true });
      reach("state.after-files");
      // The name that makes it an old state goes last.
      for (const end of ["-wal", "-shm", ""]) rmSync(from + end, { force: true });
      return recordPlace(place, terms);
    });
  } catch (error) {
    // Where there is no space on the disk, or no right to write, it is used where it is.
    const cannot = error instanceof Failure ? error.data.kind === "store-read-only" : errorCode(error) === "ENOSPC";
    if (cannot) return old;
    throw error;
  }
}

const movingName = "moving";

/**
 * The recorded processes that work for agents. The engine is not among them: it is asked to leave, and comes back as
 * this version.
 */
const workIn = (databases: DatabaseFiles, path: string): readonly ProcessIdentity[] =>
  databases.openProcessesIn(path).filter(({ role }) => role !== "engine");

async function engineLeft(state: string): Promise<boolean> {
  const engine = readIdentity(join(state, "run", "engine.json"));
  if (engine === undefined || !askToEnd(engine)) return true;
  const deadline = performance.now() + leaveMs;
  while (linuxProcesses.check(engine) !== "gone") {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

/** Two databases with work in them are a person's to decide between. */
function refuseSecondDatabase(state: string): void {
  const isOurs = existsSync(join(state, movingName));
  if (isOurs || !existsSync(databaseIn(state))) return;
  const problem = `there are two databases, ${databaseIn(state)} and one in .overstory/ of an earlier version; put one aside`;
  throw new Failure({ kind: "store-corrupt", path: databaseIn(state), problem, backup: newestBackup(state) });
}
