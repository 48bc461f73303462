import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ResolvedFile } from "../../../ports/merge-git.ts";
import { expectGit } from "../git.ts";
import type { OwnDir } from "../own-dir.ts";
import { type MergeRepository, openView } from "./merge-repository.ts";

/** The same tree with these files replaced, through an index that nobody else sees. */
export async function withFiles(
  mergeRepo: MergeRepository,
  tree: string,
  files: readonly ResolvedFile[],
): Promise<string> {
  using own = openView(mergeRepo);
  expectGit(await own.git(["read-tree", "--end-of-options", tree]), `reading ${tree}`);
  const nothing = "0".repeat(mergeRepo.repository.objectFormat === "sha1" ? 40 : 64);
  const oids = await store(own, files);
  const lines = files.map(({ path, mode }, at) => {
    const oid = oids[at];
    return oid === undefined ? `0 ${nothing}\t${path}\0` : `${mode} ${oid}\t${path}\0`;
  });
  const stdin = lines.join("");
  const updated = expectGit(await own.git(["update-index", "-z", "--index-info"], { stdin }), "replacing files");
  // A path that git does not like is left out with a warning; what was to be replaced must not stay.
  if (updated.err !== "") throw new Error(`replacing files: ${updated.err.trim()}`);
  return expectGit(await own.git(["write-tree"]), "writing a tree").out.trim();
}

/** The object of each file, all through one process; none for a file that is gone. */
async function store(own: OwnDir, files: readonly ResolvedFile[]): Promise<readonly (string | undefined)[]> {
  const dir = join(own.dir, "new");
  mkdirSync(dir);
  const paths = files.map(({ content }, at) => {
    if (content === null) return undefined;
    const path = join(dir, String(at));
    writeFileSync(path, content);
    return path;
  });
  const stdin = paths.flatMap((path) => (path === undefined ? [] : [`${path}\n`])).join("");
  const answer = await own.git(["hash-object", "-w", "--no-filters", "--stdin-paths"], { stdin });
  const oids = expectGit(answer, "storing files").out.split("\n").values();
  return paths.map((path) => (path === undefined ? undefined : oids.next().value));
}
