import { readFileSync, readlinkSync, type Stats, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Failure } from "../../domain/failure.ts";
import { stateDirName } from "../../domain/project/place.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import { commonDirOf } from "./places.ts";

export interface WatchedGit {
  readonly pid: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Watches a git process that takes long. An agent can put a pipe where git opens a file, and git waits there for ever.
 * `found` is called once for such a pipe. The function that is returned ends the watch. A process that ends soon or goes on
 * working costs next to nothing: pipes are looked for only where it has stood still.
 */
export function watchForPipes(git: WatchedGit, found: (failure: Failure) => void): () => void {
  let last: string | undefined;
  let isOver = false;
  let timer: Timer | undefined;
  const lookAfter = (ms: number): void => {
    timer = setTimeout(() => void look(ms), ms);
  };
  const look = async (waited: number): Promise<void> => {
    const doing = doingOf(git.pid);
    // Where the system does not tell, only a git that takes very long is suspected.
    const isStill = doing === undefined ? waited >= unknownStillMs : doing === last;
    last = doing;
    const failure = isStill ? await pipeFor(git) : undefined;
    if (isOver) return;
    if (failure !== undefined) found(failure);
    else lookAfter(Math.min(2 * waited, longestPauseMs));
  };
  const lookNow = async (): Promise<void> => {
    const before = doingOf(git.pid);
    await Bun.sleep(aMomentMs);
    const failure = before === doingOf(git.pid) && !isOver ? await pipeFor(git) : undefined;
    if (failure !== undefined && !isOver) found(failure);
  };
  watches.add(lookNow);
  lookAfter(firstPauseMs);
  return () => {
    isOver = true;
    watches.delete(lookNow);
    clearTimeout(timer);
  };
}

const watches = new Set<() => Promise<void>>();

/**
 * Looks at once for pipes in the way of the other git processes, which may wait at the same pipe. The caller may exit when it
 * is told of the pipe, and would leave them behind.
 */
export const lookAtOthers = async (): Promise<void> => void (await Promise.all([...watches].map((look) => look())));

const firstPauseMs = 400;
const longestPauseMs = 60_000;
const unknownStillMs = 10_000;
const aMomentMs = 50;

/** Differs from look to look while a process does anything. Undefined where the system does not tell. */
function doingOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // Its time on the processor, in the kernel and outside.
    return state === "S" ? `${rest[10]} ${rest[11]}` : `${state} ${performance.now()}`;
  } catch {
    return undefined;
  }
}

async function pipeFor({ cwd, env }: WatchedGit): Promise<Failure | undefined> {
  const workTree = env.GIT_WORK_TREE ?? cwd;
  const inFiles = await firstPipe(workTree, (name) => readNames.has(name), [".git"]);
  if (inFiles !== undefined) {
    const problem = `${sentence(inFiles)}; remove it: rm ${shellWord(inFiles.path)}`;
    return new Failure({ kind: "worktree-damaged", path: workTree, problem });
  }
  for (const dir of gitDirsOf(cwd, env)) {
    // Pipes in the state directory are ours.
    const planted = await firstPipe(dir, () => true, [stateDirName]);
    if (planted !== undefined) return new Failure({ kind: "unusable-file", path: planted.path, problem: planted.what });
  }
  const home = env.HOME ?? "";
  const settings = env.XDG_CONFIG_HOME ?? join(home, ".config");
  for (const path of [
    join(home, ".gitconfig"),
    ...["config", "attributes", "ignore"].map((name) => join(settings, "git", name)),
  ]) {
    const what = notAFile(path);
    if (what !== undefined) return new Failure({ kind: "unusable-file", path, problem: what });
  }
  return undefined;
}

interface Planted {
  readonly path: string;
  readonly what: string;
}

const sentence = ({ path, what }: Planted): string => `${path} cannot be read by git: ${what}, where a file belongs`;

/** Files of a work tree that git reads by itself. */
const readNames = new Set([".gitattributes", ".gitignore", ".gitmodules", ".mailmap"]);

/** The directories in which git reads its own files. The refs of a directory of ours are links to those of the repository. */
function gitDirsOf(cwd: string, env: WatchedGit["env"]): readonly string[] {
  const own = env.GIT_DIR;
  const dirs = [commonDirOf(cwd), own === undefined ? undefined : behindRefs(own), env.GIT_OBJECT_DIRECTORY];
  const work = env.GIT_WORK_TREE === undefined ? undefined : commonDirOf(env.GIT_WORK_TREE);
  return [...new Set([...dirs, work].filter((dir) => dir !== undefined))];
}

function behindRefs(gitDir: string): string {
  try {
    return dirname(resolve(gitDir, readlinkSync(join(gitDir, "refs"))));
  } catch {
    return gitDir;
  }
}

/** The first pipe or device below a directory. Directories near the root come first. */
async function firstPipe(
  root: string,
  isRead: (name: string) => boolean,
  skipped: readonly string[],
): Promise<Planted | undefined> {
  const rest = [root];
  let seen = 0;
  for (const dir of rest) {
    const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(dir, entry.name);
      if (entry.isDirectory() && !skipped.includes(entry.name)) rest.push(path);
      if (entry.isDirectory() || entry.isFile() || !isRead(entry.name)) continue;
      const what = notAFile(path);
      if (what !== undefined) return { path, what };
    }
    seen += entries.length;
    if (seen > mostEntries) return undefined;
  }
  return undefined;
}

const mostEntries = 500_000;

/** Says what there is in the place of a file that git would wait for. A socket makes git fail at once. */
function notAFile(path: string): string | undefined {
  const stat = reached(path);
  if (stat?.isFIFO() === true) return "it is a pipe";
  return stat?.isCharacterDevice() === true && !isNull(stat.rdev) ? "it is a device" : undefined;
}

/** The state of the file that a path or a link leads to. */
function reached(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // A link that leads in a circle, or into a directory without the right to read.
    return undefined;
  }
}

const isNull = (rdev: number): boolean => rdev === statSync("/dev/null").rdev;
