import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { isHonoured } from "../../domain/trust/filters.ts";
import { makeWithin } from "../file-access.ts";
import { type FileRules, isForeignDirectory } from "./filters.ts";
import { expectGit, type GitAnswer, type GitCall, runGit, zeroEnded } from "./git.ts";
import { type GitSession, type GitSessionCall, openGitSession } from "./git-session.ts";
import { scratchName } from "./leftovers.ts";
import type { Repository } from "./repository.ts";

export interface OwnDirOptions {
  readonly repository: Repository;
  /** The directory in which the git directory is made. */
  readonly scratch: string;
  /** The text of HEAD. By default it names a branch that does not exist. */
  readonly head?: string | undefined;
  /** The directory with the `refs` and `packed-refs` that count; by default that of the repository. */
  readonly refs?: string;
  /** A git directory whose index is copied; what happens to the copy does not touch the original. */
  readonly indexFrom?: string;
  /** Use this very index file instead. */
  readonly index?: string;
  readonly workTree?: string;
  /**
   * `project`: new objects go to the project. `scratch`: they vanish with this directory, unless transferred; those of
   * the project, and of `alsoReads`, can be read. Another directory of ours: both have the same objects.
   */
  readonly objects: "project" | "scratch" | OwnDir;
  readonly alsoReads?: readonly string[];
  /**
   * `bytes`: files are taken as they are. `merging`: as bytes, but the `merge` attributes of the files count; a driver
   * that is a program is not configured here, and git then merges as text. Rules: files come out and go in as with plain
   * git, through those filters that may run.
   */
  readonly files?: "bytes" | "merging" | FileRules;
  /** What confines the calls that say so: words before the command line. */
  readonly within?: (() => readonly string[] | undefined) | undefined;
}

/**
 * A git directory of our own, with our configuration, over refs, objects and files that others can write. No hook,
 * external diff, text converter, merge driver or fsmonitor can run through it, and no filter but those of the rules it
 * was given: of the repository it has no configuration, and its attributes overrule those of the files.
 */
export interface OwnDir extends Disposable {
  readonly dir: string;
  git(
    args: readonly string[],
    options?: Pick<GitCall, "stdin" | "env" | "limitMs" | "startsPrograms" | "each" | "onOutput"> & {
      /** Agents may change what it reads while it reads: it sees no more than an agent does, where the system confines those. */
      readonly confined?: boolean;
    },
  ): Promise<GitAnswer>;
  /** Starts the process of a command that will be asked soon. */
  readonly start: (command: OwnQuestions) => void;
  /** Asks a process of this command that stays for the next question, as long as this directory does. */
  readonly ask: (command: OwnQuestions, ...question: Parameters<GitSession["ask"]>) => ReturnType<GitSession["ask"]>;
}

/** A command that answers one question after the other. */
export type OwnQuestions = Pick<GitSessionCall, "args" | "limitMs" | "unbuffered">;

export function openOwnDir(options: OwnDirOptions): OwnDir {
  const { repository, scratch, workTree, files = "bytes" } = options;
  const rules = typeof files === "string" ? undefined : files;
  makeWithin(scratch, 3);
  const dir = mkdtempSync(join(scratch, scratchName("view")));
  try {
    fill(dir, options);
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
  const own = rules === undefined ? asBytes : [...rules.form, `core.attributesFile=${join(dir, usersAttributes)}`];
  const args = [...repository.plainSettings, ...plain, ...own].flatMap((setting) => ["-c", setting]);
  const env = {
    GIT_DIR: dir,
    ...(rules === undefined ? nobodysSettings : settingsOf(rules)),
    GIT_LITERAL_PATHSPECS: "1",
    GIT_INDEX_FILE: options.index ?? join(dir, "index"),
    GIT_AUTHOR_NAME: "Overstory",
    GIT_AUTHOR_EMAIL: "overstory@localhost",
    GIT_COMMITTER_NAME: "Overstory",
    GIT_COMMITTER_EMAIL: "overstory@localhost",
    ...(workTree === undefined ? {} : { GIT_WORK_TREE: workTree, GIT_CEILING_DIRECTORIES: dirname(workTree) }),
    ...objectsOf(options),
  };
  // A filter needs what a program of the user's needs.
  const mayConfine = rules === undefined || !rules.filters.some(isHonoured);
  const sessions = new Map<string, GitSession>();
  const sessionOf = (command: OwnQuestions): GitSession => {
    const key = command.args.join(" ");
    const known = sessions.get(key);
    const open = () => openGitSession({ ...command, cwd: workTree ?? dir, args: [...args, ...command.args], env });
    const session = known?.isUsable() === true ? known : open();
    sessions.set(key, session);
    return session;
  };
  return {
    dir,
    start: (command) => void sessionOf(command),
    ask: (command, ...question) => sessionOf(command).ask(...question),
    git: (command, { env: more = {}, confined = false, ...rest } = {}) =>
      runGit({
        cwd: workTree ?? dir,
        args: [...args, ...command],
        env: { ...env, ...more },
        withFilters: rules !== undefined,
        within: confined && mayConfine ? options.within?.() : undefined,
        ...rest,
      }),
    [Symbol.dispose]: () => {
      for (const session of sessions.values()) session[Symbol.dispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function objectsOf({ objects, repository }: OwnDirOptions): Readonly<Record<string, string>> {
  if (objects === "scratch") return {};
  return { GIT_OBJECT_DIRECTORY: objects === "project" ? repository.objects : join(objects.dir, "objects") };
}

const plain = [
  "core.untrackedCache=false",
  "core.splitIndex=false",
  "core.preloadIndex=true",
  "status.relativePaths=false",
];
const asBytes = ["core.autocrlf=false", "core.safecrlf=false"];
const nobodysSettings = { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", GIT_ATTR_NOSYSTEM: "1" };

/** As variables, because the name of a filter may hold what would end it on a command line. */
function settingsOf({ settings }: FileRules): Readonly<Record<string, string>> {
  const pairs = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) };
}

/** The topmost attributes: `!` puts back what git does without any attribute. */
const attributes = {
  bytes: "* -text -filter -ident !eol !working-tree-encoding !diff !merge\n",
  merging: "* -text -filter -ident !eol !working-tree-encoding !diff !conflict-marker-size\n",
} as const;

function fill(dir: string, options: OwnDirOptions): void {
  const { repository, head = "ref: refs/heads/none", files = "bytes", alsoReads = [] } = options;
  const refs = options.refs ?? repository.commonDir;
  const format = repository.objectFormat;
  const extension = format === "sha1" ? "" : `[extensions]\n\tobjectFormat = ${format}\n`;
  const version = format === "sha1" ? 0 : 1;
  mkdirSync(join(dir, "info"));
  mkdirSync(join(dir, "objects", "info"), { recursive: true });
  writeFileSync(join(dir, "config"), `[core]\n\trepositoryFormatVersion = ${version}\n\tbare = false\n${extension}`);
  writeFileSync(join(dir, "HEAD"), `${head}\n`);
  if (typeof files === "string") writeFileSync(join(dir, "info", "attributes"), attributes[files]);
  else layOutForFilters(repository.commonDir, dir, files);
  const alternates = [repository.objects, ...alsoReads].map((path) => `${path}\n`).join("");
  writeFileSync(join(dir, "objects", "info", "alternates"), alternates);
  copyIfFile(join(repository.commonDir, "info", "exclude"), join(dir, "info", "exclude"));
  // Where a shallow clone ends; without it git looks for commits that were never fetched.
  copyIfFile(join(repository.commonDir, "shallow"), join(dir, "shallow"));
  for (const name of ["refs", "packed-refs"]) symlinkSync(join(refs, name), join(dir, name));
  if (options.indexFrom !== undefined) copyIndex(options.indexFrom, dir);
}

const usersAttributes = "info/users-attributes";

/** What plain git and the programs it starts as filters would find in the repository's own git directory. */
function layOutForFilters(commonDir: string, dir: string, { attributes }: FileRules): void {
  // The attributes as they were read. The repository may have changed since.
  writeFileSync(join(dir, "info", "attributes"), attributes.repository);
  writeFileSync(join(dir, usersAttributes), attributes.user);
  for (const entry of readdirSync(commonDir, { withFileTypes: true })) {
    if (entry.isDirectory() && isForeignDirectory(entry.name)) {
      symlinkSync(join(commonDir, entry.name), join(dir, entry.name));
    }
  }
}

/** With it come the parts of a split index, which git looks for beside it. */
function copyIndex(from: string, dir: string): void {
  const parts = readdirSync(from).filter((name) => name === "index" || name.startsWith("sharedindex."));
  for (const name of parts) copyIfFile(join(from, name), join(dir, name));
}

/** The index of a git directory is copied with it as well. */
export function copyIfFile(from: string, to: string): void {
  const stat = lstatSync(from, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) return;
  copyFileSync(from, to);
  // Git doubts entries that are as young as their index. A copy made now would look older than them all, and hide a
  // change made in the same tick as the original; a little too old only means to look twice.
  utimesSync(to, stat.atimeMs / 1000, (stat.mtimeMs - indexDoubtMs) / 1000);
}

const indexDoubtMs = 2;

/** A path that differs between two commits, with the letter git gives to the difference. */
interface Difference {
  readonly path: Buffer;
  readonly status: string;
}

export async function differences(own: OwnDir, from: string, to: string): Promise<readonly Difference[]> {
  const args = ["diff-tree", "-r", "-z", "--no-renames", "--name-status", from, to];
  const parts = zeroEnded(expectGit(await own.git(args), "comparing commits").raw);
  const found: Difference[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [status, path] = [parts[at], parts[at + 1]];
    if (status !== undefined && path !== undefined) found.push({ status: status.toString(), path });
  }
  return found;
}
