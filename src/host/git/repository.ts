import { expectGit, git } from "./git.ts";

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
}

export function openRepository(root: string): () => Promise<Repository> {
  let known: Promise<Repository> | undefined;
  return () => {
    known ??= read(root);
    return known;
  };
}

async function read(root: string): Promise<Repository> {
  const [places, settings, ignore] = await Promise.all([
    git(root, "rev-parse", "--path-format=absolute", "--show-object-format", "--git-dir", "--git-common-dir"),
    git(root, "config", "-z", "--get-regexp", "^core\\.(autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode)$"),
    git(root, "config", "--type=path", "--get", "core.excludesFile"),
  ]);
  const [objectFormat = "sha1", gitDir = "", commonDir = ""] = expectGit(places, `${root} as a repository`).out.split(
    "\n",
  );
  const plainSettings = settings.out
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => entry.replace("\n", "="));
  if (ignore.code === 0) plainSettings.push(`core.excludesFile=${ignore.out.trim()}`);
  return { root, gitDir, commonDir, objects: `${commonDir}/objects`, objectFormat, plainSettings };
}
