import { existsSync } from "node:fs";
import { type GitSession, openGitSession } from "../git-session.ts";
import { type OwnDir, type OwnDirOptions, openOwnDir } from "../own-dir.ts";
import type { Repository } from "../repository.ts";

/** The project's repository as merging uses it, with a scratch directory that only we write to. */
export interface MergeRepository {
  readonly repository: Repository;
  readonly scratch: string;
  /** Runs git commands in a view that several callers share: for commands that need no index of their own. */
  through<T>(work: (own: OwnDir) => Promise<T>): Promise<T>;
  /** What a name or id stands for now, as `<id> <type>`, by a process that stays for the next name. */
  resolve(name: string): Promise<Resolved>;
  /** Ends the process that looks names up; it would end by itself a while after its last use. */
  close(): void;
}

/** `unknown`: this process could not give an answer. */
export type Resolved = { readonly id: string; readonly type: string } | "missing" | "unknown";

export interface MergeRepositoryOptions {
  readonly repository: Repository;
  readonly scratch: string;
  /** How long the shared view stays after its last use. */
  readonly idleMs: number;
}

/** Making and removing a view takes longer than most git commands in it, so the view stays for the next command. */
export function openMergeRepository({ repository, scratch, idleMs }: MergeRepositoryOptions): MergeRepository {
  let current: SharedView | undefined;
  return {
    repository,
    scratch,
    ...nameResolver(repository.root, idleMs),
    through: async (work) => {
      if (current === undefined || current.isOver()) current = shareView({ repository, scratch }, idleMs);
      return await current.use(work);
    },
  };
}

/** The project's refs and objects through a git directory of our own; new objects go to the project. */
export const openView = (
  { repository, scratch }: Pick<MergeRepository, "repository" | "scratch">,
  more: Partial<OwnDirOptions> = {},
): OwnDir => openOwnDir({ repository, scratch, objects: "project", files: "merging", ...more });

interface SharedView {
  use<T>(work: (own: OwnDir) => Promise<T>): Promise<T>;
  /** No longer for new users. */
  isOver(): boolean;
}

function shareView(mergeRepo: Pick<MergeRepository, "repository" | "scratch">, idleMs: number): SharedView {
  const own = openView(mergeRepo);
  const openedAt = performance.now();
  let users = 0;
  let closed = false;
  let idle: ReturnType<typeof setTimeout> | undefined;
  const close = (): void => {
    closed = true;
    open.delete(close);
    own[Symbol.dispose]();
  };
  closeAllAtExit();
  open.add(close);
  return {
    isOver: () => closed || !existsSync(own.dir) || performance.now() - openedAt > longestViewMs,
    use: async (work) => {
      clearTimeout(idle);
      users++;
      try {
        return await work(own);
      } finally {
        users--;
        if (users === 0) idle = setTimeout(close, idleMs).unref();
      }
    },
  };
}

/** Names are looked up dozens of times in each train, and starting git takes twenty times as long as a look. */
function nameResolver(root: string, idleMs: number): Pick<MergeRepository, "resolve" | "close"> {
  let session: GitSession | undefined;
  let openedAt = 0;
  let idle: ReturnType<typeof setTimeout> | undefined;
  const close = (): void => {
    session?.[Symbol.dispose]();
    session = undefined;
  };
  const resolve = async (name: string): Promise<Resolved> => {
    // Each question is one line.
    if (name.includes("\n")) return "unknown";
    clearTimeout(idle);
    if (session?.isUsable() !== true || performance.now() - openedAt > longestViewMs) {
      close();
      session = openGitSession({ cwd: root, args: ["cat-file", "--batch-check=%(objectname) %(objecttype)"] });
      openedAt = performance.now();
    }
    const answer = await session.ask(`${name}\n`, (found) => found.at(-1) === lineEnd);
    idle = setTimeout(close, idleMs).unref();
    const line = answer?.toString().trimEnd() ?? "";
    const [, id, type] = /^([0-9a-f]{40,64}) (commit|tree|blob|tag)$/.exec(line) ?? [];
    if (id !== undefined && type !== undefined) return { id, type };
    return line === `${name} missing` ? "missing" : "unknown";
  };
  return { resolve, close };
}

const lineEnd = 0x0a;

const open = new Set<() => void>();
let willClose = false;

/** One listener, however many views. */
function closeAllAtExit(): void {
  if (willClose) return;
  willClose = true;
  process.on("exit", () => {
    for (const close of open) close();
  });
}

/** A view holds copies of a few files of the repository, which must not grow old. */
const longestViewMs = 60_000;
