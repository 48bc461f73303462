import { Failure } from "../../../domain/failure.ts";
import { expectGit, GitFailed } from "../git.ts";
import type { OwnDir } from "../own-dir.ts";
import { readBlobs } from "./history.ts";
import type { MergeRepository } from "./merge-repository.ts";
import { newObjects, tangledWords, treesOf, unsoundOf } from "./sound-objects.ts";

/** See `MergeGit.unreadable`. Reads every object that is new, so it is only for the search after a failure. */
export async function unreadable(
  mergeRepo: MergeRepository,
  from: string,
  to: string,
  { isKnown = false }: { readonly isKnown?: boolean } = {},
): Promise<string | undefined> {
  return mergeRepo.through(async (own) => {
    const problem = await problemWith(mergeRepo, own, { from, to, isKnown });
    // A git that cannot read what has landed either says nothing about this commit.
    if (problem !== undefined) await treesOf(own, from);
    return problem;
  });
}

async function problemWith(
  mergeRepo: MergeRepository,
  own: OwnDir,
  { from, to, isKnown }: { readonly from: string; readonly to: string; readonly isKnown: boolean },
): Promise<string | undefined> {
  try {
    const { raw } = expectGit(await own.git(["cat-file", "-t", to]), `looking at ${to}`);
    const type = raw.toString().trim();
    if (type !== "commit") return `${to} is a ${type}, not a commit`;
    const ids = await newObjects(own, from, to);
    const terms = { commit: to, ids: Promise.resolve(ids), areNew: !isKnown };
    const unsound = await unsoundOf(own, mergeRepo.repository, terms);
    if (unsound?.isTangled === true) return tangledWords(unsound.id);
    if (unsound !== undefined) return `the object ${unsound.id} is missing or does not have the content of its id`;
    return await misfitOf(mergeRepo, own, ids);
  } catch (error) {
    // Any other code says that git was ended, not what it found.
    if (error instanceof GitFailed && error.code === 128) return error.message;
    const failure = error instanceof Failure ? error.data : undefined;
    if (failure?.kind === "commit-refused") return failure.problem;
    if (failure?.kind === "unusable-file") return (error as Failure).message;
    throw error;
  }
}

/** An entry of a tree whose object is of another type than the entry says. Git finds out when it writes the file. */
async function misfitOf(mergeRepo: MergeRepository, own: OwnDir, ids: readonly string[]): Promise<string | undefined> {
  const types = await typesOf(own, ids);
  const trees = ids.filter((id) => types.get(id) === "tree");
  const idBytes = mergeRepo.repository.objectFormat === "sha256" ? 32 : 20;
  const entries = (await readBlobs(mergeRepo, trees)).flatMap((tree) => entriesOf(tree, idBytes));
  const wanted = entries.filter(({ type }) => type !== "commit");
  const found = await typesOf(own, [...new Set(wanted.map(({ id }) => id))]);
  const misfit = wanted.find(({ id, type }) => found.get(id) !== type);
  if (misfit === undefined) return undefined;
  const { name, id, type } = misfit;
  return `${JSON.stringify(name)} should be a ${type}, and its object ${id} is a ${found.get(id) ?? "missing one"}`;
}

async function typesOf(own: OwnDir, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const stdin = ids.map((id) => `${id}\n`).join("");
  const args = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
  const { out } = expectGit(await own.git(args, { stdin }), "looking at objects");
  return new Map(
    out.split("\n").flatMap((line) => {
      const [id, type] = line.split(" ");
      return id === undefined || type === undefined || type === "missing" ? [] : [[id, type] as const];
    }),
  );
}

interface TreeEntry {
  readonly name: string;
  readonly id: string;
  readonly type: "tree" | "blob" | "commit";
}

/** A tree is a list of: mode, space, name, zero byte, id. Git has read it before, so it is whole. */
function entriesOf(tree: Buffer, idBytes: number): readonly TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < tree.length; ) {
    const [space, zero] = [tree.indexOf(0x20, at), tree.indexOf(0, at)];
    const mode = tree.toString("latin1", at, space);
    const type = /^0*40000$/.test(mode) ? "tree" : mode === "160000" ? "commit" : "blob";
    at = zero + 1 + idBytes;
    entries.push({ name: tree.toString("utf8", space + 1, zero), id: tree.toString("hex", zero + 1, at), type });
  }
  return entries;
}
