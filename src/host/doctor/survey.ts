import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { hasEnded } from "../../domain/agent/agent.ts";
import {
  type EngineFacts,
  type GitFacts,
  type PlaceKind,
  type ProjectFacts,
  processKey,
  type SeenLock,
  type SeenPlace,
  type StoredRows,
  type UnreadableFile,
  type WorktreeRecord,
} from "../../domain/consistency/facts.ts";
import type { ProcessIdentity } from "../../domain/process/process.ts";
import type { ProjectPlace } from "../../domain/project/place.ts";
import type { EngineContact } from "../../ports/engine-contact.ts";
import type { Processes } from "../../ports/process.ts";
import { enginePaths, readIdentity } from "../engine-contact/keeper.ts";
import { expectGit, runGit } from "../git/git.ts";
import { adminDirOf, gitLinkIn, standing, textOf } from "../git/places.ts";
import { refsBelow } from "../git/refs.ts";
import { openRepository, type Repository } from "../git/repository.ts";
import { listEntries } from "../git/worktree/list.ts";
import { lockHolder } from "../linux/lock-holder.ts";
import { ageMs } from "../linux/process-table.ts";
import { gatePlaces, sharedDir } from "../project-place.ts";
import { readStateFiles } from "./state-files.ts";

export interface SurveyTerms {
  readonly place: ProjectPlace;
  readonly processes: Pick<Processes, "check">;
  readonly engine: Pick<EngineContact, "notice" | "answers">;
  readonly now: number;
}

/** Reads everything that the rules of `domain/consistency` look at, beside the rows. Changes nothing. */
export async function surveyProject(terms: SurveyTerms, rows: StoredRows | null): Promise<ProjectFacts> {
  const { place, processes } = terms;
  const repository = await openRepository(place.root)();
  const [git, engine] = await Promise.all([gitFacts(repository, rows), engineFacts(terms, rows)]);
  const files = readStateFiles(place, rows, terms.now);
  const known: readonly ProcessIdentity[] = [
    ...(rows === null
      ? []
      : [...rows.processes, ...rows.removals, ...rows.leases.flatMap(({ holder }) => holder ?? [])]),
    ...files.identities.flatMap(({ process }) => process ?? []),
  ];
  const gone = new Set(known.filter((one) => processes.check(one) === "gone").map(processKey));
  return { place, rows, git, files, engine, gone };
}

async function engineFacts({ place, processes, engine }: SurveyTerms, rows: StoredRows | null): Promise<EngineFacts> {
  const notice = engine.notice();
  // An engine takes its seat before it writes its notice.
  const holder = rows?.leases.find(({ name }) => name === "engine")?.holder ?? null;
  const isSeated = holder !== null && holder.endedAt === null && processes.check(holder) !== "gone";
  const keeper = readIdentity(enginePaths(place.state).keeper);
  const isKept = keeper !== undefined && processes.check(keeper) === "alive";
  return {
    isAlive: notice !== undefined || isSeated,
    answers: notice !== undefined && (await engine.answers()),
    pid: notice?.pid ?? (isSeated ? holder.pid : null),
    version: notice?.version ?? null,
    keeper: keeper === undefined ? "none" : isKept ? "alive" : "gone",
    keeperAgeMs: isKept ? ageMs(keeper) : 0,
  };
}

async function gitFacts(repository: Repository, rows: StoredRows | null): Promise<GitFacts> {
  const [listed, entries] = await Promise.all([
    refsBelow({ repository }, "refs/heads/overstory/", "refs/overstory/"),
    listEntries({ repository }),
  ]);
  const refs = new Map(listed.map(({ name, commit }) => [name, commit]));
  const named = [
    ...refs.values(),
    ...(rows?.snapshots ?? []).map(({ commitId }) => commitId),
    ...(rows?.merges ?? []).map(({ headCommit }) => headCommit),
    ...(rows?.agents ?? [])
      .filter((agent) => !hasEnded(agent) || agent.releasedAt === null)
      .flatMap(({ headCommit, baseCommit }) => [headCommit, baseCommit]),
  ];
  const missing = await missingObjects(repository, named);
  const homes: Readonly<Record<PlaceKind, string>> = {
    agent: join(sharedDir(repository.root), "worktrees"),
    gate: gatePlaces(repository.root),
  };
  const records = entries.slice(1).flatMap(({ path, branch }): readonly WorktreeRecord[] => {
    const kind = (["agent", "gate"] as const).find((one) => path.startsWith(`${homes[one]}/`));
    if (kind === undefined) return [];
    return [{ kind, path, branch: branch?.replace(/^refs\/heads\//, "") ?? null, exists: existsSync(path) }];
  });
  const places = [...placesIn(repository, "agent", homes.agent), ...placesIn(repository, "gate", homes.gate)];
  return {
    refs,
    brokenRefs: new Map([...refs].filter(([, commit]) => missing.has(commit))),
    missing,
    records,
    places,
    standings: standingsOf(rows),
    locks: locksIn(repository),
    unreadable: [...unreadableRefs(repository), ...unreadableIn(repository, places)],
  };
}

async function missingObjects(repository: Repository, named: readonly (string | null)[]): Promise<ReadonlySet<string>> {
  const ids = [...new Set(named)].filter((id) => id !== null && id !== "");
  if (ids.length === 0) return new Set();
  const args = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
  const asked = await runGit({ cwd: repository.root, args, stdin: ids.map((id) => `${id}\n`).join("") });
  const lines = expectGit(asked, "looking for objects").out.split("\n");
  return new Set(lines.flatMap((line) => (line.endsWith(" missing") ? [line.slice(0, -" missing".length)] : [])));
}

function standingsOf(rows: StoredRows | null): GitFacts["standings"] {
  const seated = (rows?.agents ?? []).filter(
    ({ worktreePath, cleanedAt }) => worktreePath !== null && cleanedAt === null,
  );
  return new Map(
    seated.map(({ id, worktreePath, worktreeIdentity: identity }) => {
      const stands = standing({ path: worktreePath ?? "", identity });
      return [id, stands === "own" || stands === "nothing" ? stands : "other"];
    }),
  );
}

function placesIn(repository: Repository, kind: PlaceKind, home: string): readonly SeenPlace[] {
  if (lstatSync(home, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(home).map((name) => {
    const path = join(home, name);
    const isDirectory = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    return { kind, name, path, isDirectory, link: isDirectory ? linkOf(repository, path) : "missing" };
  });
}

function linkOf(repository: Repository, path: string): SeenPlace["link"] {
  const link = lstatSync(join(path, ".git"), { throwIfNoEntry: false });
  if (link === undefined) return "missing";
  if (link.isDirectory()) return "clone";
  const points = gitLinkIn(join(path, ".git"));
  const admin = adminDirOf(repository, path);
  return points !== undefined && admin !== undefined && resolve(path, points) === admin ? "sound" : "astray";
}

/** Younger than this, its holder may be a process that the system has not shown yet. */
const youngMs = 3_000;

/** Lock files where git commands of agents and of ours write. */
function locksIn({ commonDir }: Repository): readonly SeenLock[] {
  const linked = join(commonDir, "worktrees");
  const worktrees = existsSync(linked) ? readdirSync(linked).map((name) => join(linked, name)) : [];
  const single = [commonDir, ...worktrees].flatMap((dir) =>
    ["index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock"].map((name) => join(dir, name)),
  );
  const below = ["refs/heads", "refs/overstory"].flatMap((dir) =>
    filesBelow(join(commonDir, dir)).filter((path) => path.endsWith(".lock")),
  );
  return [...single, ...below].flatMap((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() !== true) return [];
    const age = Date.now() - found.mtimeMs;
    const isStale = age > youngMs && lockHolder({ path, gitDir: commonDir, ageMs: age }).kind === "nobody";
    return [{ path, isStale }];
  });
}

function filesBelow(dir: string): readonly string[] {
  if (lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

/** A commit's number, or the name of another ref: a file of git that says which commit it means. */
const meaning = /^(?:[0-9a-f]{40}|[0-9a-f]{64}|ref: \S+)\s*$/;

/** Refs of ours that stand in files of their own. */
function unreadableRefs({ commonDir }: Repository): readonly UnreadableFile[] {
  const files = ["refs/heads/overstory", "refs/overstory"].flatMap((dir) => filesBelow(join(commonDir, dir)));
  return files
    .filter((path) => !path.endsWith(".lock") && isUnreadable(path))
    .map((path) => ({ kind: "ref", path, worktree: null }));
}

/** A file that is there, and says no commit. */
export const isUnreadable = (path: string): boolean => {
  const found = textOf(path);
  return found !== undefined && !meaning.test(found);
};

function unreadableIn(repository: Repository, places: readonly SeenPlace[]): readonly UnreadableFile[] {
  return places.flatMap(({ kind, path, link }): readonly UnreadableFile[] => {
    const admin = kind === "agent" && link === "sound" ? adminDirOf(repository, path) : undefined;
    if (admin === undefined) return [];
    const [head, index] = [join(admin, "HEAD"), join(admin, "index")];
    return [
      // Whoever was to write one again may have died before: git takes the files of a worktree without an index for deleted.
      ...(isGone(head) || isUnreadable(head) ? [{ kind: "head", path: head, worktree: path } as const] : []),
      ...(isUnreadableIndex(index) ? [{ kind: "index", path: index, worktree: path } as const] : []),
    ];
  });
}

const isGone = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) === undefined;

/** An index begins with these letters, then its version and the count of its entries. */
const indexMark = "DIRC";
const indexHead = 12;
/** At its end is the sum of all bytes before, or nothing but zeros where the user wants no sum. */
const indexSums = [
  { kind: "sha1", length: 20 },
  { kind: "sha256", length: 32 },
] as const;
/** Git itself would need long for one that is larger. */
const mostIndexBytes = 256 * 1024 * 1024;

const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);

/** A machine that loses its power may leave the beginning of an index, or zeros. */
function isUnreadableIndex(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return isGone(path);
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (fstatSync(file).size > mostIndexBytes) return false;
    const all = readFileSync(file);
    if (all.length < indexHead || all.toString("latin1", 0, indexMark.length) !== indexMark) return true;
    return !indexSums.some(({ kind, length }) => {
      const [body, sum] = [all.subarray(0, -length), all.subarray(-length)];
      if (body.length < indexHead) return false;
      return (
        (isZero(sum) && !isZero(body.subarray(-length))) || new Bun.CryptoHasher(kind).update(body).digest().equals(sum)
      );
    });
  } finally {
    closeSync(file);
  }
}
