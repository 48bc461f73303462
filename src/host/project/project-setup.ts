import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { failureOf } from "../../domain/failure.ts";
import { generatedFiles, generatedNames } from "../../domain/project/generated-texts.ts";
import type { ProjectPlace } from "../../domain/project/place.ts";
import { tellIdentity } from "../../domain/project/set-up.ts";
import type { Clock } from "../../ports/clock.ts";
import type { MadeFiles, ProjectFacts, ProjectSetup, SetUpOrder } from "../../ports/project-setup.ts";
import type { DatabaseHealth } from "../../ports/project-survey.ts";
import { isTakenPlace, readText } from "../file-access.ts";
import { fileRules } from "../git/filters.ts";
import { expectGit, type GitAnswer, git, runGit } from "../git/git.ts";
import { identityVariables } from "../git/identity.ts";
import { committer } from "../git/merge/commit.ts";
import { commitHooks } from "../git/merge/hooks.ts";
import { openMergeRepository } from "../git/merge/merge-repository.ts";
import { type OwnDir, type OwnDirOptions, openOwnDir } from "../git/own-dir.ts";
import { gitLinkIn, placeOf } from "../git/places.ts";
import { commitAt } from "../git/refs.ts";
import { openRepository, type Repository } from "../git/repository.ts";
import { confirmFirstAttributes } from "../git/trusted-programs.ts";
import { randomIds } from "../ids.ts";
import {
  databaseIn,
  type FoundPlace,
  hasDatabase,
  isOldState,
  newestBackup,
  placeIfAny,
  readRecord,
  sharedDir,
} from "../project-place.ts";
import { probeProgram } from "../runtime-probe.ts";
import { putDatabaseAside } from "./damaged-database.ts";
import { createFile, keepCopy, makeDirectory, readTexts, replaceFile } from "./files.ts";
import { installedRuntimes, instructionFileOf, isLeftOut, putGuide } from "./instruction-file.ts";
import { hideFromGit, makeStateDir, withStateLock } from "./record.ts";
import type { ProjectRepository } from "./repository.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What a set-up needs of other adapters: the settings, the store, the runtimes. */
export interface SetupTerms {
  readonly repository: ProjectRepository;
  readonly env: Environment;
  readonly isBranchName: (name: string) => boolean;
  readonly renderSettings: (facts: ProjectFacts & { readonly setup: string | undefined }) => string;
  /** Copies the settings to the state directory. */
  readonly keepSettings: (place: ProjectPlace) => void;
  /** The path of that copy. */
  readonly lastKnownSettings: (place: ProjectPlace) => string;
  /** Opens a database once, which makes it or brings an older one up to date. */
  readonly openDatabase: (path: string) => Promise<void>;
  readonly health: (path: string) => DatabaseHealth;
  readonly clock: Clock;
  readonly refuseLostDatabase: (place: ProjectPlace) => void;
  readonly bind: (found: FoundPlace) => Promise<ProjectPlace>;
  readonly record: (place: ProjectPlace) => Promise<unknown>;
  readonly programOf: ProjectSetup["programOf"];
}

export function projectSetup(terms: SetupTerms): ProjectSetup {
  const { repository, env } = terms;
  const { root, originUrl, originBranch, branch } = repository;
  const dir = sharedDir(root);
  const settingsFile = join(dir, "config.yaml");
  let place: ProjectPlace = { root, state: repository.state };
  let isNewState = false;
  const found = (): ProjectPlace => placeIfAny(root) ?? place;
  return {
    root,
    directory: basename(root),
    originUrl,
    branch,
    mainBranch: [originBranch, branch].find((found) => found !== undefined && terms.isBranchName(found)),
    isSetUp: placeIfAny(root) !== undefined || existsSync(settingsFile),
    place: () => place,
    bind: async () => {
      const unbound = placeIfAny(root);
      if (unbound === undefined) return { isAdopted: false };
      const before = readRecord(unbound.state)?.id;
      const { state } = await terms.bind(unbound);
      place = { root, state };
      return { isAdopted: before !== undefined && readRecord(state)?.id !== before };
    },
    isRemovable: isUnlockedLink(root),
    obstacle: () => [dir, repository.state, join(dirname(repository.state), "info")].find(isTakenPlace),
    settingsAreLeftOut: async () => !existsSync(settingsFile) && (await isLeftOut(root, ".overstory/config.yaml")),
    settings: () => {
      const isThere = existsSync(settingsFile);
      return { isThere, lastKnown: isThere ? undefined : readText(terms.lastKnownSettings(place)) };
    },
    databaseDamage: () => {
      const { state } = found();
      const { isRuined, problem, damage } = terms.health(databaseIn(state));
      const words = problem !== null && "problem" in problem ? problem.problem : (damage[0] ?? "");
      return isRuined ? { problem: words, backup: newestBackup(state) } : null;
    },
    putDatabaseAside: () => putDatabaseAside(found(), terms.clock.now()),
    checkDatabase: async ({ mayBeNew }) => {
      if (!mayBeNew) terms.refuseLostDatabase(place);
      if (hasDatabase(place.state)) await terms.openDatabase(databaseIn(place.state));
    },
    exclusively: (work) => {
      isNewState = !existsSync(place.state);
      makeStateDir(place.state);
      return withStateLock(place.state, work, "init.lock");
    },
    write: (order) => write(terms, { place, isNewState }, order),
    ignored: (paths) => ignored(root, paths),
    commit: (paths, message) => commitPaths({ root, env, paths, message }),
    earlierDatabases: () => earlierNames.filter((name) => existsSync(join(dir, name))),
    texts: (names) => readTexts(root, names),
    read: (path) => readText(join(root, path)),
    exists: (path) => existsSync(join(root, path)),
    has: (program) => Bun.which(program, { PATH: env.PATH ?? "" }) !== null,
    installedRuntimes: () => installedRuntimes(env.PATH),
    programOf: terms.programOf,
    starts: async (program) => (await probeProgram({ program, path: env.PATH ?? "" })).ok,
  };
}

/** What version 0.11 kept its data in, one file for each part. */
const earlierNames = ["mail.db", "sessions.db", "events.db", "metrics.db", "merge-queue.db"];

const sharedFiles = [...Object.values(generatedNames), "config.yaml"].map((name) => `.overstory/${name}`);

async function write(
  terms: SetupTerms,
  { place, isNewState }: { readonly place: ProjectPlace; readonly isNewState: boolean },
  { facts, lastKnown, setup, reset, instructions }: SetUpOrder,
): Promise<MadeFiles> {
  const { root, state } = place;
  const { PATH: path } = terms.env;
  const dir = sharedDir(root);
  const instructionFile = instructions ? instructionFileOf({ root, path, runtime: facts.runtime }) : undefined;
  const before = await uncommitted(root, [...sharedFiles, ...real(root, instructionFile)]);
  const created: string[] = [];
  const unchanged: string[] = [];
  const note: Note = (found, made) => void (made ? created : unchanged).push(relative(root, found));
  for (const name of ["", "worktrees", "specs"]) note(join(dir, name), makeDirectory(join(dir, name)));
  // Mail, tokens and captured environments are its owner's alone.
  note(state, isNewState);
  for (const name of ["agents", "logs", "run"]) note(join(state, name), makeDirectory(join(state, name), 0o700));
  const texts = generatedFiles(randomIds.digest);
  for (const which of ["gitignore", "readme", "manifest"] as const) {
    const file = join(dir, generatedNames[which]);
    note(file, createFile(file, texts[which]));
  }
  await makeDatabase(terms, place, note);
  if (isNewState) await confirmFirstAttributes(root);
  const guide = instructionFile === undefined ? undefined : await putGuide(root, instructionFile, { edited: "keep" });
  const written = guide === undefined || guide.kind === "left-alone" ? undefined : guide;
  if (written !== undefined) note(join(root, written.path), written.kind === "written");
  const text = lastKnown ?? terms.renderSettings({ ...facts, setup });
  const backups = await writeSettings(join(dir, "config.yaml"), { text, reset }, note);
  terms.keepSettings(place);
  const own = sharedFiles.map((file) => ({ path: file, mixed: false }));
  return {
    created,
    unchanged,
    backups: backups.map((copy) => relative(root, copy)),
    own: written === undefined ? own : [...own, { path: written.path, mixed: !written.ours }],
    uncommitted: before,
    leftAlone: guide?.kind === "left-alone" ? { file: instructionFile ?? "", why: guide.why } : undefined,
  };
}

/** Notes what a set-up found or made. */
type Note = (path: string, made: boolean) => void;

async function makeDatabase(terms: SetupTerms, place: ProjectPlace, note: Note): Promise<void> {
  const existed = hasDatabase(place.state);
  const path = databaseIn(place.state);
  if (isOldState(place.state)) await terms.openDatabase(path);
  else {
    const hiding = hideFromGit(place);
    if (hiding !== undefined) note(hiding.path, hiding.changed);
    await terms.record(place);
  }
  note(path, !existed);
}

/** Returns the copies of the files that a reset replaced. Without a reset, existing files stay. */
async function writeSettings(
  path: string,
  { text, reset }: { readonly text: string; readonly reset: boolean },
  note: Note,
): Promise<readonly string[]> {
  const created = createFile(path, text);
  const replaces = reset && !created && readText(path) !== text;
  const copies = replaces ? [keepCopy(path, Date.now())] : [];
  if (replaces) await replaceFile(path, { bytes: text });
  note(path, created || replaces);
  return copies;
}

/** Where an instruction file that may be a link really is: git speaks of that path, and only of those below its root. */
function real(root: string, name: string | undefined): readonly string[] {
  if (name === undefined || !existsSync(join(root, name))) return [];
  const path = relative(realpathSync(root), realpathSync(join(root, name)));
  return path.startsWith("../") ? [] : [path];
}

interface CommitRequest {
  readonly root: string;
  /** Relative to the root. */
  readonly paths: readonly string[];
  readonly message: string;
  /** Of the person who asked: their identity, their signing key. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

type CommitAnswer =
  /** With the names of hooks that `git commit` would have run. */
  | { readonly kind: "committed"; readonly hooksNotRun: readonly string[] }
  | { readonly kind: "nothing-to-commit" }
  | { readonly kind: "failed"; readonly why: string };

/**
 * Commits exactly these paths in the name of the person who asked. All other staged changes stay staged and
 * uncommitted. If it fails, the index is as it was. No hook runs: agents can write those of a repository.
 */
async function commitPaths({ root, paths, message, env }: CommitRequest): Promise<CommitAnswer> {
  if (paths.length === 0) return { kind: "nothing-to-commit" };
  const repository = await openRepository(root)();
  const half = halfDone.find((name) => existsSync(join(repository.gitDir, name)));
  if (half !== undefined) return { kind: "failed", why: `the checkout is in the middle of something (${half})` };
  using scratch = temporary();
  const view = await opener(repository, scratch.path);
  const head = await commitAt({ repository }, "HEAD");
  using aside = view();
  if (head !== undefined) expectGit(await aside.git(["read-tree", head]), "reading the last commit");
  const stored = await add(aside, paths);
  if (stored.code !== 0) return failed(stored);
  const tree = expectGit(await aside.git(["write-tree"]), "writing a tree").out.trim();
  const before = head === undefined ? undefined : await aside.git(["rev-parse", `${head}^{tree}`]);
  if (before?.out.trim() === tree) return { kind: "nothing-to-commit" };
  const author = await runGit({ cwd: root, args: ["var", "GIT_AUTHOR_IDENT"], env: identityVariables(env) });
  const [, name, email] = /^(.*) <(.*)> \d+ [+-]\d+$/.exec(author.out.trim()) ?? [];
  if (author.code !== 0 || name === undefined || email === undefined) return nameless(failed(author));
  const { commit } = committer(openMergeRepository({ repository, scratch: scratch.path, idleMs: 0 }));
  const parents = head === undefined ? [] : [head];
  try {
    const made = await commit({ tree, parents, message: `${message}\n`, user: { name, email } });
    return await place(repository, { made, head, paths, message }, view({ index: join(repository.gitDir, "index") }));
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind !== "signing-failed") throw error;
    return { kind: "failed", why: `it could not be signed: ${failure.problem}` };
  }
}

const halfDone = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];

/** Puts the files into the user's own index and moves the branch, or neither. */
async function place(
  repository: Repository,
  step: { made: string; head: string | undefined; paths: readonly string[]; message: string },
  index: OwnDir,
): Promise<CommitAnswer> {
  using own = index;
  const { root } = repository;
  const { made, head, paths, message } = step;
  const listed = expectGit(await own.git(["ls-files", "-z", "--stage", "--", ...paths]), "reading the index");
  const staged = await add(own, paths);
  if (staged.code !== 0) return failed(staged);
  const nothing = "0".repeat(made.length);
  const moved = await git(root, "update-ref", "-m", `commit: ${message}`, "HEAD", made, head ?? nothing);
  if (moved.code === 0) {
    return { kind: "committed", hooksNotRun: (await commitHooks(repository)).map((path) => basename(path)) };
  }
  const removed = paths.map((path) => `0 ${nothing}\t${path}\0`).join("");
  const stdin = Buffer.concat([Buffer.from(removed), listed.raw]);
  expectGit(await own.git(["update-index", "-z", "--index-info"], { stdin }), "putting the index back");
  return failed(moved);
}

const add = (own: OwnDir, paths: readonly string[]): Promise<GitAnswer> =>
  own.git(["update-index", "--add", "-z", "--stdin"], { stdin: paths.map((path) => `${path}\0`).join("") });

/** A file that is not as its last commit has it. */
interface Uncommitted {
  readonly path: string;
  readonly tracked: boolean;
}

/** Which of these paths hold something that is not committed yet. Ignored files are not among them. */
async function uncommitted(root: string, paths: readonly string[]): Promise<readonly Uncommitted[]> {
  const repository = await openRepository(root)();
  using scratch = temporary();
  using own = (await opener(repository, scratch.path))({ indexFrom: repository.gitDir });
  const args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--", ...paths];
  const lines = expectGit(await own.git(args), "looking for changes")
    .out.split("\0")
    .filter((line) => line !== "");
  return lines.map((line) => ({ path: line.slice(3), tracked: !line.startsWith("??") }));
}

/** Which of these files git is told to ignore. */
async function ignored(root: string, paths: readonly string[]): Promise<readonly string[]> {
  const untracked = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"];
  const { out } = await git(root, ...untracked, "--", ...paths.map((path) => `:(top,literal)${path}`));
  return out.split("\0").filter((path) => path !== "");
}

type View = (more?: Pick<OwnDirOptions, "index" | "indexFrom">) => OwnDir;

/** The user's checkout through git directories of our own. */
async function opener(repository: Repository, scratch: string): Promise<View> {
  const files = await fileRules(repository);
  const { root } = repository;
  const head = placeOf(repository, { path: root, kind: "root" })?.head;
  const common = { repository, scratch, head, workTree: root, objects: "project", files } as const;
  return (more = {}) => openOwnDir({ ...common, ...more });
}

/** Nothing of it may lie in a repository that is not set up yet. */
function temporary(): { readonly path: string } & Disposable {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "ov-commit-")));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Git said no because it does not know who commits; says how to tell it. */
function nameless(answer: CommitAnswer): CommitAnswer {
  return answer.kind === "failed" ? { ...answer, why: `${answer.why}; ${tellIdentity}, then: ov init` } : answer;
}

/** The last words before git gave up. */
const locked =
  "another git command is at work in this checkout, or was killed and left its lock; then commit them: git commit";

function failed({ err, out }: GitAnswer): CommitAnswer {
  const lines = [err, out].flatMap((output) => output.split("\n").map((line) => line.trim())).filter(Boolean);
  const last = lines.find((line) => line.startsWith("fatal:") || line.startsWith("error:"));
  if (last !== undefined && /\.lock': File exists/.test(last)) return { kind: "failed", why: locked };
  return { kind: "failed", why: last ?? lines[0] ?? "git gave no reason" };
}

function isUnlockedLink(root: string): boolean {
  const link = gitLinkIn(join(root, ".git"));
  const gitDir = link === undefined ? undefined : resolve(root, link);
  return gitDir !== undefined && existsSync(join(gitDir, "commondir")) && !existsSync(join(gitDir, "locked"));
}
