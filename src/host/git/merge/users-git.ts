import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { exactShellWord } from "../../../domain/text/shell-word.ts";
import { filterSentence } from "../../../domain/trust/filters.ts";
import { expectRegular } from "../../file-access.ts";
import { type FileRules, fileRules, problemsWith } from "../filters.ts";
import { type GitAnswer, git } from "../git.ts";
import { copyIfFile, type OwnDir, openOwnDir } from "../own-dir.ts";
import { openRepository, type Repository } from "../repository.ts";

export interface UsersFilesCall {
  readonly checkout: string;
  /** Another index than the one of the checkout. */
  readonly index?: string;
  /** Another work tree; filters still run in the top directory of the checkout, where they may name a program. */
  readonly workTree?: string;
  readonly stdin?: Uint8Array;
}

/**
 * Git over the files of a checkout that a person works in, for commands that read or write files or an index. It sees the
 * files as the person's own git does, with filters, line ends and sparse checkouts; but of the repository's configuration
 * no hook, monitor or filter runs, except those filters that the operator confirmed. Refs are not changed through it.
 */
export async function usersFiles(call: UsersFilesCall, ...args: string[]): Promise<GitAnswer> {
  const { checkout, stdin } = call;
  const repository = await repositoryAt(checkout);
  using own = open(repository, call, await fileRules(repository));
  const sparse = await letSparse(repository, own);
  return await own.git([...sparse, ...args], stdin === undefined ? {} : { stdin });
}

/** Why the files of a commit cannot be written into the checkout as the person's own git would; undefined where they can. */
export async function whyNotFilter(checkout: string, commit: string): Promise<string | undefined> {
  const problems = await problemsWith(await repositoryAt(checkout), commit);
  return problems.length === 0 ? undefined : problems.map(filterSentence).join("; ");
}

function repositoryAt(checkout: string): Promise<Repository> {
  const now = performance.now();
  const before = known.get(checkout);
  if (before !== undefined && now - before.at < freshMs) return before.repository;
  const repository = openRepository(checkout)();
  known.set(checkout, { at: now, repository });
  // The next one to ask tries again; this one hears of it.
  repository.catch(() => known.delete(checkout));
  return repository;
}

const known = new Map<string, { readonly at: number; readonly repository: Promise<Repository> }>();
const freshMs = 10_000;

function open(repository: Repository, call: UsersFilesCall, rules: FileRules): OwnDir {
  const { checkout, index = join(repository.gitDir, "index"), workTree = checkout } = call;
  const own = openOwnDir({
    repository,
    scratch: join(dirname(repository.trust), "run", "git"),
    head: headText(repository.gitDir),
    index,
    workTree,
    objects: "project",
    files: workTree === checkout ? rules : { ...rules, settings: rules.settings.map(runIn(checkout)) },
  });
  // Git looks for the parts of a split index in its own directory.
  for (const name of readdirSync(repository.gitDir)) {
    if (name.startsWith("sharedindex.")) symlinkSync(join(repository.gitDir, name), join(own.dir, name));
  }
  return own;
}

/** Puts a change of directory in front of the commands of filters. */
const runIn =
  (checkout: string) =>
  ([key, value]: readonly [string, string]): readonly [string, string] => {
    const isCommand = /^filter\..*\.(clean|smudge|process)$/s.test(key) && value !== "";
    const there = `unset GIT_WORK_TREE GIT_INDEX_FILE; cd ${exactShellWord(checkout)} &&`;
    return isCommand ? [key, `${there} ${value}`] : [key, value];
  };

/** Which files a sparse checkout leaves out is said by a file beside the index, and counts if the configuration says so. */
async function letSparse({ root, gitDir }: Repository, { dir }: OwnDir): Promise<readonly string[]> {
  const patterns = join(gitDir, "info", "sparse-checkout");
  copyIfFile(patterns, join(dir, "info", "sparse-checkout"));
  if (!existsSync(join(dir, "info", "sparse-checkout"))) return [];
  const { out } = await git(root, "config", "-z", "--type=bool", "--get-regexp", "^core\\.sparsecheckout(cone)?$");
  const settings = out.split("\0").filter((entry) => entry !== "");
  return settings.flatMap((entry) => ["-c", entry.replace("\n", "=")]);
}

function headText(gitDir: string): string {
  const head = join(gitDir, "HEAD");
  expectRegular(head);
  return readFileSync(head, "utf8").trim();
}
