import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { generatedFiles, generatedNames } from "../../domain/project/generated-texts.ts";
import type { ProjectPlace } from "../../domain/project/place.ts";
import type { MadeFiles, ProjectFacts, ProjectSetup, SetUpOrder } from "../../ports/project-setup.ts";
import { confirmFirstAttributes } from "../git/trusted-programs.ts";
import { randomIds } from "../ids.ts";
import {
  databaseIn,
  type FoundPlace,
  hasDatabase,
  isOldState,
  placeIfAny,
  readRecord,
  sharedDir,
} from "../project-place.ts";
import { readText } from "../read-text.ts";
import { probeProgram } from "../runtime-probe.ts";
import { installedRuntimes, instructionFileOf } from "./coding-agents.ts";
import { commitPaths, ignored, uncommitted } from "./commit.ts";
import { createFile, keepCopy, makeDirectory, readTexts, replaceFile } from "./files.ts";
import { putGuide } from "./instruction-file.ts";
import { hideFromGit, makeStateDir, withStateLock } from "./record.ts";
import type { Repository } from "./repository.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What a set-up needs of other adapters: the settings, the store, the runtimes. */
export interface SetupTerms {
  readonly repository: Repository;
  readonly env: Environment;
  readonly isBranchName: (name: string) => boolean;
  readonly renderSettings: (facts: ProjectFacts & { readonly setup: string | undefined }) => string;
  /** Copies the settings to the state directory. */
  readonly keepSettings: (place: ProjectPlace) => void;
  /** The path of that copy. */
  readonly lastKnownSettings: (place: ProjectPlace) => string;
  /** Opens a database once, which makes it or brings an older one up to date. */
  readonly openDatabase: (path: string) => Promise<void>;
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
  return {
    root,
    directory: basename(root),
    originUrl,
    branch,
    mainBranch: [originBranch, branch].find((found) => found !== undefined && terms.isBranchName(found)),
    isSetUp: placeIfAny(root) !== undefined || existsSync(settingsFile),
    place: () => place,
    bind: async () => {
      const found = placeIfAny(root);
      if (found === undefined) return { isAdopted: false };
      const before = readRecord(found.state)?.id;
      const { state } = await terms.bind(found);
      place = { root, state };
      return { isAdopted: before !== undefined && readRecord(state)?.id !== before };
    },
    obstacle: () => (statSync(dir, { throwIfNoEntry: false })?.isDirectory() === false ? dir : undefined),
    settings: () => {
      const isThere = existsSync(settingsFile);
      return { isThere, lastKnown: isThere ? undefined : readText(terms.lastKnownSettings(place)) };
    },
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

/** Answers the copies that were kept of what a reset replaced; without a reset, what is there stays. */
async function writeSettings(
  path: string,
  { text, reset }: { readonly text: string; readonly reset: boolean },
  note: Note,
): Promise<readonly string[]> {
  const created = createFile(path, text);
  const replaces = reset && !created && !readFileSync(path).equals(Buffer.from(text));
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
