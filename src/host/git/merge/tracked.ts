import { expectGit, git, zeroEnded } from "../git.ts";
import type { OwnDir } from "../own-dir.ts";
import type { MergeRepository } from "./merge-repository.ts";

/** One file of a tree. The path is bytes written as latin1, because file names need not be text. */
export interface TrackedFile {
  readonly mode: string;
  readonly oid: string;
  readonly path: string;
}

/** Every file of a commit, with links and submodules, in git's order. */
export const trackedFiles = (mergeRepo: MergeRepository, commit: string): Promise<readonly TrackedFile[]> =>
  mergeRepo.through((own) => filesOf(own, commit));

export async function filesOf(own: OwnDir, commit: string): Promise<readonly TrackedFile[]> {
  const args = ["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit];
  const answer = expectGit(await own.git(args), `listing the files of ${commit}`);
  return zeroEnded(answer.raw).map(readLine);
}

function readLine(line: Buffer): TrackedFile {
  const tab = line.indexOf(tabByte);
  const [mode = "", , oid = ""] = line.toString("latin1", 0, tab).split(" ");
  return { mode, oid, path: line.toString("latin1", tab + 1) };
}

const tabByte = 0x09;

/** Files that differ between two commits: gone in the second one (`D`), or there in the second one (`d`). */
export async function changes(
  checkout: string,
  { from, to }: { readonly from: string; readonly to: string },
  filter: "D" | "d",
): Promise<readonly TrackedFile[]> {
  const how = ["-r", "-z", "--raw", "--no-abbrev", "--no-renames", `--diff-filter=${filter}`];
  const answer = await git(checkout, "diff-tree", ...how, "--end-of-options", from, to);
  const parts = zeroEnded(expectGit(answer, `comparing ${from} with ${to}`).raw);
  const found: TrackedFile[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [old = "", now = "", oldOid = "", nowOid = ""] = (parts[at]?.toString("latin1") ?? "").slice(1).split(" ");
    const path = parts[at + 1]?.toString("latin1") ?? "";
    found.push(filter === "D" ? { path, mode: old, oid: oldOid } : { path, mode: now, oid: nowOid });
  }
  return found;
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

export const isRegular = ({ mode }: Pick<TrackedFile, "mode">): boolean => mode.startsWith("100");

/** The path below a directory, as the bytes it is made of. */
export const below = (dir: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${dir}/`), Buffer.from(path, "latin1")]);

/** The path as text. */
export const shown = (path: string): string => Buffer.from(path, "latin1").toString();
