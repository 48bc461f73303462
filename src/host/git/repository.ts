import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { stateDirName, trustName } from "../../domain/project/place.ts";
import { expectGit, runGit } from "./git.ts";

/** What never changes about the project's repository while we run, read once. */
export interface Repository {
  readonly root: string;
  /** The git directory of the checkout at `root`. */
  readonly gitDir: string;
  /** Where refs and objects of all its worktrees are. */
  readonly commonDir: string;
  readonly objects: string;
  readonly objectFormat: string;
  /** The settings that decide how files look or are ignored; data only, none of them names a program. */
  readonly plainSettings: readonly string[];
  /** Refs and worktrees are plain files as git has always kept them, for one user. */
  readonly isOrdinary: boolean;
  /** The file, which need not be there, that says which programs of this repository the operator confirmed. */
  readonly trust: string;
}

/** The first call that succeeds reads it. */
export type OpenRepository = () => Promise<Repository>;

export function openRepository(root: string): OpenRepository {
  let known: Promise<Repository> | undefined;
  return () => {
    if (known === undefined) {
      known = readRepository(root);
      // A failure need not last: the next call reads again.
      known.catch(() => {
        known = undefined;
      });
    }
    return known;
  };
}

/** With `env`, variables that tell git where the repository is instead of letting it search. */
export async function readRepository(root: string, env: Readonly<Record<string, string>> = {}): Promise<Repository> {
  const ask = (...args: string[]) => runGit({ cwd: root, args, env });
  const [places, settings, ignore] = await Promise.all([
    ask("rev-parse", "--path-format=absolute", "--show-object-format", "--git-dir", "--git-common-dir"),
    ask("config", "-z", "--get-regexp", "^(core|extensions)\\."),
    ask("config", "--type=path", "--get", "core.excludesFile"),
  ]);
  const [objectFormat = "sha1", gitDir = "", commonDir = ""] = expectGit(places, `${root} as a repository`).out.split(
    "\n",
  );
  // Each is a name in small letters and, unless it is only named, a line end and its value.
  const found = settings.out.split("\0").map((entry) => entry.split(/\n(.*)/s));
  const plainSettings = found
    .filter(([name = ""]) => plain.includes(name))
    .map(([name = "", value]) => (value === undefined ? name : `${name}=${value}`));
  if (ignore.code === 0) plainSettings.push(`core.excludesFile=${ignore.out.trim()}`);
  const isOrdinary = !found.some(([name = ""]) => isUnusual(name));
  return {
    root,
    gitDir,
    commonDir,
    objects: `${commonDir}/objects`,
    objectFormat,
    plainSettings,
    isOrdinary,
    trust: join(commonDir, stateDirName, trustName),
  };
}

/** The directories that git expects in a repository. Made by hand: `git init` copies the templates of the user. */
export function makeGitDirectories(gitDir: string): void {
  for (const part of [["objects", "info"], ["objects", "pack"], ["refs", "heads"], ["refs", "tags"], ["info"]]) {
    mkdirSync(join(gitDir, ...part), { recursive: true });
  }
}

const plain = ["autocrlf", "eol", "filemode", "symlinks", "ignorecase", "precomposeunicode"].map(
  (name) => `core.${name}`,
);

/** Extensions that change how refs or worktrees are kept, or that we do not know; files that several users write. */
const isUnusual = (name: string): boolean =>
  name === "core.sharedrepository" || (name.startsWith("extensions.") && !harmlessExtensions.includes(name));

const harmlessExtensions = ["noop", "objectformat", "partialclone", "preciousobjects"].map(
  (name) => `extensions.${name}`,
);

export interface WorktreeOptions {
  /** Untracked files above this size are left out of snapshots. */
  readonly maxFileBytes?: number;
  /** `worktree.include`: files of the project copied into each new worktree. They are never stored. */
  readonly include?: readonly string[];
  /** Paths of files that we put into worktrees ourselves: not an agent's work, so neither dirt nor worth keeping. */
  readonly deployed?: readonly string[];
  /** The state directory; the one in the repository unless said otherwise. */
  readonly state?: string;
  /** Where ignored files of removed worktrees go. */
  readonly trash?: string;
  /** Where directories of one operation are made. No other process may write there. */
  readonly scratch?: string;
  /** See `GitProject.confine`. */
  readonly confine?: GitProject["confine"];
  /** The repository, where others of the same process read it as well. */
  readonly repository?: OpenRepository | undefined;
}

/** A repository with the settings and directories that operations on its worktrees need. Submodules have one each. */
export interface GitProject {
  readonly repository: Repository;
  readonly maxFileBytes: number;
  readonly include: readonly string[];
  readonly deployed: readonly string[];
  readonly trash: string;
  readonly scratch: string;
  /**
   * Words before a command line that let it see no more of this machine than an agent sees, but for these directories, and
   * write to `scratch` alone. Undefined where the system does not confine agents.
   */
  readonly confine?: ((reads: readonly string[], scratch: string) => readonly string[] | undefined) | undefined;
  /** Set for a submodule: where git keeps its state, which is not where worktrees have theirs. */
  readonly place?: Place;
}

const tenMegabytes = 10 * 1024 * 1024;

export function gitProject(repository: Repository, options: WorktreeOptions): GitProject {
  const state = options.state ?? join(repository.commonDir, stateDirName);
  return {
    repository,
    maxFileBytes: options.maxFileBytes ?? tenMegabytes,
    include: options.include ?? [],
    deployed: options.deployed ?? [],
    trash: options.trash ?? join(state, "trash"),
    scratch: options.scratch ?? join(state, "run", "git"),
    confine: options.confine,
  };
}

/** Where git keeps the state of one worktree. Read as data; its configuration is never used. */
export interface Place {
  readonly gitDir: string;
  /** Directory with `refs` and `packed-refs`. */
  readonly refs: string;
  readonly objects: string;
  /** The text of HEAD: a symbolic ref or a commit. */
  readonly head: string;
}

/** Makes the id of an object of the repository from its bytes. */
export const objectHasher = (objectFormat: Repository["objectFormat"]): Bun.CryptoHasher =>
  new Bun.CryptoHasher(objectFormat === "sha256" ? "sha256" : "sha1");
