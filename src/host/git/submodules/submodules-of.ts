import { zeroEnded } from "../git.ts";
import { type OwnDir, openOwnDir } from "../own-dir.ts";
import type { Repository } from "../repository.ts";

/** A submodule as a commit names it. */
export interface Submodule {
  /** From `.gitmodules`; undefined where that does not name the path. */
  readonly name: string | undefined;
  readonly path: string;
  /** The commit it is to be at. */
  readonly commit: string;
}

/** The repository through a git directory of our own: its refs, its objects, nothing of its configuration. */
export const openRefs = (repository: Repository, scratch: string, alsoReads: readonly string[] = []): OwnDir =>
  openOwnDir({ repository, scratch, objects: "scratch", alsoReads });

/** The submodules that `.gitmodules` of a commit or tree names and that it has. */
export async function submodulesOf(own: OwnDir, commit: string): Promise<readonly Submodule[]> {
  const names = await namesIn(own, commit);
  if (names.size === 0) return [];
  const listed = await own.git(["ls-tree", "-z", "--full-tree", commit, "--", ...names.keys()]);
  if (listed.code !== 0) return [];
  return zeroEnded(listed.raw).flatMap((line) => {
    const [, oid, path] = gitlinkLine.exec(line.toString()) ?? [];
    return oid === undefined || path === undefined ? [] : [{ name: names.get(path), path, commit: oid }];
  });
}

const gitlinkLine = /^160000 commit ([0-9a-f]+)\t(.+)$/s;

/** Names by path. Git itself refuses a name that would lead out of its `modules` directory. */
export async function namesIn(own: OwnDir, commit: string): Promise<ReadonlyMap<string, string>> {
  const args = ["config", "-z", "--blob", `${commit}:.gitmodules`, "--get-regexp", "^submodule\\..*\\.path$"];
  // It fails as well where there is no such file, or none that git can read.
  const answer = await own.git(args);
  if (answer.code !== 0) return new Map();
  const found = answer.out.split("\0").flatMap((entry) => {
    const [, name, path] = /^submodule\.(.+)\.path\n(.+)$/s.exec(entry) ?? [];
    return name === undefined || path === undefined || !isSafe(name) ? [] : [[path.replace(/\/+$/, ""), name] as const];
  });
  // The repository of one must not lie inside that of another.
  return new Map(found.filter(([, name]) => !found.some(([, other]) => name.startsWith(`${other}/`))));
}

const isSafe = (name: string): boolean =>
  !name.startsWith("/") && name.split(/[/\\]/).every((part) => part !== "" && part !== "." && part !== "..");
