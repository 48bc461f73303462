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
import { type GitAnswer, runGit } from "./git.ts";
import type { Repository } from "./repository.ts";

export interface OwnDirOptions {
  readonly repository: Repository;
  /** Where to make it. */
  readonly scratch: string;
  /** The text of HEAD. */
  readonly head: string;
  /** Directory with the `refs` and `packed-refs` that count. */
  readonly refs: string;
  /** A git directory whose index is copied; what happens to the copy does not touch the original. */
  readonly indexFrom?: string;
  /** Use this very index file instead. */
  readonly index?: string;
  readonly workTree?: string;
  /**
   * `project`: new objects go to the project. `scratch`: they vanish with this directory, unless transferred; those of
   * the project, and of `alsoReads`, can be read.
   */
  readonly objects: "project" | "scratch";
  readonly alsoReads?: readonly string[];
  /**
   * `bytes`: files are taken as they are. `checkout`: line ends and encodings as the project wants them. `merging`: as
   * bytes, but the `merge` attributes of the files count; a driver that is a program is not configured here, and git
   * then merges as text.
   */
  readonly files?: "bytes" | "checkout" | "merging";
}

/**
 * A git directory of our own, with our configuration, over refs, objects and files that others can write. No filter,
 * hook, external diff, text converter, merge driver or fsmonitor can run through it: the only configuration it has is
 * ours, and its attributes overrule those of the files.
 */
export interface OwnDir extends Disposable {
  readonly dir: string;
  git(
    args: readonly string[],
    options?: { readonly stdin?: Uint8Array | string; readonly env?: Readonly<Record<string, string>> },
  ): Promise<GitAnswer>;
}

export function openOwnDir(options: OwnDirOptions): OwnDir {
  const { repository, scratch, workTree } = options;
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const dir = mkdtempSync(join(scratch, "view-"));
  try {
    fill(dir, options);
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
  const settings = [...repository.plainSettings, ...plain, ...(options.files === "checkout" ? [] : asBytes)];
  const args = settings.flatMap((setting) => ["-c", setting]);
  const env = {
    GIT_DIR: dir,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_INDEX_FILE: options.index ?? join(dir, "index"),
    GIT_AUTHOR_NAME: "Overstory",
    GIT_AUTHOR_EMAIL: "overstory@localhost",
    GIT_COMMITTER_NAME: "Overstory",
    GIT_COMMITTER_EMAIL: "overstory@localhost",
    ...(workTree === undefined ? {} : { GIT_WORK_TREE: workTree, GIT_CEILING_DIRECTORIES: dirname(workTree) }),
    ...(options.objects === "project" ? { GIT_OBJECT_DIRECTORY: repository.objects } : {}),
  };
  return {
    dir,
    git: (command, { stdin, env: more = {} } = {}) =>
      runGit({
        cwd: workTree ?? dir,
        args: [...args, ...command],
        env: { ...env, ...more },
        ...(stdin === undefined ? {} : { stdin }),
      }),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}

const plain = [
  "core.untrackedCache=false",
  "core.splitIndex=false",
  "core.preloadIndex=true",
  "status.relativePaths=false",
];
const asBytes = ["core.autocrlf=false", "core.safecrlf=false"];

/** The topmost attributes: `!` puts back what git does without any attribute. */
const attributes = {
  bytes: "* -text -filter -ident !eol !working-tree-encoding !diff !merge\n",
  checkout: "* -filter !diff !merge\n",
  merging: "* -text -filter -ident !eol !working-tree-encoding !diff !conflict-marker-size\n",
} as const;

function fill(dir: string, options: OwnDirOptions): void {
  const { repository, refs, head, files = "bytes", alsoReads = [] } = options;
  const format = repository.objectFormat;
  const extension = format === "sha1" ? "" : `[extensions]\n\tobjectFormat = ${format}\n`;
  const version = format === "sha1" ? 0 : 1;
  mkdirSync(join(dir, "info"));
  mkdirSync(join(dir, "objects", "info"), { recursive: true });
  writeFileSync(join(dir, "config"), `[core]\n\trepositoryFormatVersion = ${version}\n\tbare = false\n${extension}`);
  writeFileSync(join(dir, "HEAD"), `${head}\n`);
  writeFileSync(join(dir, "info", "attributes"), attributes[files]);
  const alternates = [repository.objects, ...alsoReads].map((path) => `${path}\n`).join("");
  writeFileSync(join(dir, "objects", "info", "alternates"), alternates);
  copyIfFile(join(repository.commonDir, "info", "exclude"), join(dir, "info", "exclude"));
  // Where a shallow clone ends; without it git looks for commits that were never fetched.
  copyIfFile(join(repository.commonDir, "shallow"), join(dir, "shallow"));
  for (const name of ["refs", "packed-refs"]) symlinkSync(join(refs, name), join(dir, name));
  if (options.indexFrom !== undefined) copyIndex(options.indexFrom, dir);
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
