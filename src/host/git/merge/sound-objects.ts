import { createHash } from "node:crypto";
import { Failure } from "../../../domain/failure.ts";
import { expectGit } from "../git.ts";
import type { OwnDir } from "../own-dir.ts";
import type { Repository } from "../repository.ts";

/**
 * Git does not compare the content of a file with its id when it writes the file, and agents can write the files in which
 * objects are kept. Without this check a gate could see other content than the tree that lands. Throws where an object
 * is missing, or has content that is not its own.
 */
export async function expectSound(
  own: OwnDir,
  { objectFormat }: Pick<Repository, "objectFormat">,
  { commit, ids }: { readonly commit: string; readonly ids: Iterable<string> },
): Promise<void> {
  for (const part of await inParts(own, [...new Set(ids)])) {
    const answer = await own.git(["cat-file", "--batch"], { stdin: lines(part) });
    const found = expectGit(answer, `reading the objects of ${commit}`).raw;
    let at = 0;
    for (const id of part) {
      const end = found.indexOf(lineEnd, at);
      const [, type = "", size = ""] = found.toString("latin1", at, end).split(" ");
      if (size === "") refuse(commit, id);
      const content = found.subarray(end + 1, end + 1 + Number(size));
      const is = createHash(objectFormat).update(`${type} ${content.length}\0`).update(content).digest("hex");
      if (is !== id) refuse(commit, id);
      at = end + 1 + Number(size) + 1;
    }
  }
}

/** What a commit brings that another one does not have, with the history in between. */
export async function newObjects(own: OwnDir, from: string, to: string): Promise<readonly string[]> {
  const args = ["rev-list", "--objects", "--no-object-names", to, `^${from}`];
  return expectGit(await own.git(args), `listing the objects of ${to}`)
    .out.split("\n")
    .filter((id) => id !== "");
}

/** The commit, its tree and all trees below: they decide which content belongs to which path. */
export async function treesOf(own: OwnDir, commit: string): Promise<readonly string[]> {
  const root = ["rev-parse", "--verify", "--end-of-options", `${commit}^{tree}`];
  const inside = ["ls-tree", "-r", "-d", "--full-tree", "--end-of-options", commit];
  const [tree, below] = await Promise.all([own.git(root), own.git(inside)]);
  const trees = expectGit(below, `listing the directories of ${commit}`)
    .out.split("\n")
    .flatMap((line) => /^040000 tree ([0-9a-f]+)\t/.exec(line)?.[1] ?? []);
  return [commit, expectGit(tree, `the tree of ${commit}`).out.trim(), ...trees];
}

/** So that no part takes much memory, unless one object alone does. */
async function inParts(own: OwnDir, ids: readonly string[]): Promise<readonly (readonly string[])[]> {
  if (ids.length === 0) return [];
  const args = ["cat-file", "--batch-check=%(objectsize)"];
  const sizes = expectGit(await own.git(args, { stdin: lines(ids) }), "measuring objects").out.split("\n");
  const parts: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const [at, id] of ids.entries()) {
    const size = Number(sizes[at]) || 0;
    if (bytes + size > mostBytes) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(id);
    bytes += size;
  }
  return parts;
}

const lines = (ids: readonly string[]): string => ids.map((id) => `${id}\n`).join("");
const mostBytes = 32 * 1024 * 1024;
const lineEnd = 0x0a;

function refuse(commit: string, id: string): never {
  const problem = `the object ${id} of it is missing or does not have the content that its id stands for; look at it: git fsck; then commit its file again`;
  throw new Failure({ kind: "commit-refused", commit, problem });
}
