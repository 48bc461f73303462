import type { FilePlace, PatchForm, StoredObject, ToldCommit } from "../../../ports/merge-git.ts";
import { parentsOf } from "../checkout-move/move-files.ts";
import { expectGit, zeroEnded } from "../git.ts";
import { askEachRef, commitAt, refsBelow } from "../refs.ts";
import type { MergeRepository } from "./merge-repository.ts";

export async function commitOf(mergeRepo: MergeRepository, ref: string): Promise<string | undefined> {
  // A name that git would take for an option is no name of a commit.
  if (ref.startsWith("-") || ref === "") return undefined;
  const found = await mergeRepo.resolve(`${ref}^{commit}`);
  if (found === "unknown") return await commitAt(mergeRepo, ref);
  return found === "missing" ? undefined : found.id;
}

export async function treeOf(mergeRepo: MergeRepository, commit: string): Promise<string> {
  const known = await mergeRepo.resolve(`${commit}^{tree}`);
  // An object that only a scratch directory has is found through its view.
  if (known !== "unknown" && known !== "missing") return known.id;
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${commit}^{tree}`];
  return expectGit(await mergeRepo.through((own) => own.git(args)), `the tree of ${commit}`).out.trim();
}

export async function contains(mergeRepo: MergeRepository, into: string, commit: string): Promise<boolean> {
  if (into === commit && isId(commit)) return true;
  const { code, err } = await mergeRepo.through((own) => own.git(["merge-base", "--is-ancestor", commit, into]));
  if (code <= 1) return code === 0;
  // A commit that git cannot read is in no history that git can read.
  const all = await mergeRepo.through((own) => own.git(["rev-list", "--end-of-options", into, "--"]));
  if (all.code !== 0) throw new Error(`comparing ${commit} with ${into}: ${err.trim()}`);
  const id = isId(commit) ? commit : await commitOf(mergeRepo, commit);
  return id !== undefined && all.raw.includes(`${id}\n`);
}

const isId = (name: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(name);

export async function baseOf(mergeRepo: MergeRepository, one: string, other: string): Promise<string | undefined> {
  const { code, out, err } = await mergeRepo.through((own) => own.git(["merge-base", "--end-of-options", one, other]));
  if (code > 1) throw new Error(`comparing ${one} with ${other}: ${err.trim()}`);
  return code === 0 ? out.trim() : undefined;
}

export async function refsWith({ repository }: MergeRepository, commit: string): Promise<readonly string[]> {
  return askEachRef(repository.root, [`--contains=${commit}`, "--format=%(refname)"]);
}

/** See `MergeGit.refsBetween`. Reads the commits in between only: branches elsewhere need not be readable. */
export async function refsBetween(mergeRepo: MergeRepository, from: string, to: string) {
  const [refs, answer] = await Promise.all([
    refsBelow(mergeRepo, "refs/heads/"),
    mergeRepo.through((own) => own.git(["rev-list", "--end-of-options", `^${from}`, to, "--"])),
  ]);
  const between = new Set(expectGit(answer, `looking between ${from} and ${to}`).out.split("\n"));
  return refs.flatMap(({ name, commit }) => (between.has(commit) ? [{ ref: name, commit }] : []));
}

export async function changedFiles(mergeRepo: MergeRepository, from: string, to: string): Promise<readonly string[]> {
  return filesSince(mergeRepo, await baseOf(mergeRepo, from, to), to);
}

/**
 * The same for many heads, by two processes where every head left the history of `from` at one commit. All of them must
 * be ids of commits.
 */
export async function changedFilesOfEach(
  mergeRepo: MergeRepository,
  from: string,
  heads: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const commits = [...new Set(heads)];
  const parents = await parentsOutside(mergeRepo, from, commits);
  const bases = new Map<string, string>();
  const others = new Map<string, readonly string[]>();
  for (const head of commits) {
    const left = leavingPoints(parents, head);
    const [base] = left;
    if (base !== undefined && left.size === 1) bases.set(head, base);
    else others.set(head, await changedFiles(mergeRepo, from, head));
  }
  const lists = await differing(
    mergeRepo,
    [...bases].map(([to, base]) => ({ from: base, to })),
  );
  const found = new Map([...others, ...[...bases.keys()].map((head, at) => [head, lists[at] ?? []] as const)]);
  return heads.map((head) => found.get(head) ?? []);
}

/** See `MergeGit.leavingPoints`. */
export async function leavingPointsOfEach(
  mergeRepo: MergeRepository,
  from: string,
  heads: readonly string[],
): Promise<readonly ReadonlySet<string>[]> {
  const parents = heads.length === 0 ? new Map() : await parentsOutside(mergeRepo, from, [...new Set(heads)]);
  const known = new Map<string, ReadonlySet<string>>();
  return heads.map((head) => {
    const points = leavingPoints(parents, head, known);
    known.set(head, points);
    return points;
  });
}

/** Every commit that some head has and `from` does not, with its parents. */
async function parentsOutside(
  mergeRepo: MergeRepository,
  from: string,
  heads: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const stdin = [`^${from}`, ...heads].map((line) => `${line}\n`).join("");
  const answer = await mergeRepo.through((own) => own.git(["rev-list", "--parents", "--stdin"], { stdin }));
  const lines = expectGit(answer, `comparing branches with ${from}`).out.split("\n");
  return new Map(
    lines.flatMap((line) => {
      const [commit, ...parents] = line.split(" ");
      return commit === undefined || commit === "" ? [] : [[commit, parents] as const];
    }),
  );
}

/**
 * Where the history of a head joins that of the other side. Where that is one commit, it is their merge base. `known`:
 * what earlier calls have found.
 */
function leavingPoints(
  parents: ReadonlyMap<string, readonly string[]>,
  head: string,
  known: ReadonlyMap<string, ReadonlySet<string>> = new Map(),
): ReadonlySet<string> {
  const points = new Set<string>();
  const seen = new Set<string>();
  const rest = [head];
  for (let commit = rest.pop(); commit !== undefined; commit = rest.pop()) {
    if (seen.has(commit)) continue;
    seen.add(commit);
    const [before, found] = [parents.get(commit), known.get(commit)];
    if (found !== undefined) for (const point of found) points.add(point);
    else if (before === undefined) points.add(commit);
    else rest.push(...before);
  }
  return points;
}

/** All files of `to` when it has no history in common with the other side. */
async function filesSince(
  mergeRepo: MergeRepository,
  base: string | undefined,
  to: string,
): Promise<readonly string[]> {
  const list =
    base === undefined
      ? ["ls-tree", "-r", "-z", "--name-only", "--full-tree", "--end-of-options", to]
      : ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--end-of-options", base, to];
  const answer = expectGit(await mergeRepo.through((own) => own.git(list)), "listing changed files");
  return zeroEnded(answer.raw).map(String);
}

/** The differing paths of each pair of commits, or of trees, by one git process. */
export async function differing(
  mergeRepo: MergeRepository,
  pairs: readonly { readonly from: string; readonly to: string }[],
): Promise<readonly (readonly string[])[]> {
  if (pairs.length === 0) return [];
  const args = ["diff-tree", "--stdin", "--always", "-r", "-z", "--raw", "--no-renames"];
  const stdin = pairs.map(({ from, to }) => `${to} ${from}\n`).join("");
  const answer = expectGit(await mergeRepo.through((own) => own.git(args, { stdin })), "comparing branches");
  const found: string[][] = [];
  // The output has the id of the pair, then for each file its modes and ids, which begin with a colon, and its path.
  const parts = zeroEnded(answer.raw).map(String).values();
  for (let part of parts) {
    // The ids of two trees end with a newline instead of a zero byte.
    for (; treePair.test(part); part = part.replace(treePair, "")) found.push([]);
    if (part.startsWith(":")) found.at(-1)?.push(parts.next().value ?? "");
    else if (part !== "") found.push([]);
  }
  if (found.length !== pairs.length) throw new Error(`git compared ${found.length} of ${pairs.length} branches`);
  return found;
}

const treePair = /^[0-9a-f]{40,64} [0-9a-f]{40,64}\n/;

/** The full messages of the commits that are in `to` and not in `from`. */
export async function messagesSince(mergeRepo: MergeRepository, from: string, to: string): Promise<readonly string[]> {
  const args = ["log", "-z", "--no-show-signature", "--format=%B", `^${from}`, to, "--"];
  return zeroEnded(expectGit(await mergeRepo.through((own) => own.git(args)), "reading messages").raw).map(String);
}

/** See `LookingGit.revertOf`. */
export async function revertOf(mergeRepo: MergeRepository, commit: string, into: string): Promise<string | undefined> {
  const grep = ["--fixed-strings", "--grep=This reverts commit "];
  const args = ["log", "-z", "--no-show-signature", ...grep, "--format=%H %B", `^${commit}`, into, "--"];
  const answer = expectGit(await mergeRepo.through((own) => own.git(args)), "reading messages");
  const by = new Map<string, string>();
  // The newest comes first, so what took a revert back is known before it.
  for (const message of zeroEnded(answer.raw).map(String)) {
    const id = message.slice(0, message.indexOf(" "));
    if (by.has(id)) continue;
    for (const [, reverted = ""] of message.matchAll(/This reverts commit ([0-9a-f]{40,64})/g)) by.set(reverted, id);
  }
  return by.get(commit);
}

export async function commitsSince(
  mergeRepo: MergeRepository,
  from: string,
  to: string,
  which: keyof typeof kindsOfCommits,
): Promise<readonly ToldCommit[]> {
  const kind = kindsOfCommits[which];
  const format = "--format=%H%x00%P%x00%an%x00%ae%x00%ad%x00%B";
  const order = ["--reverse", "--topo-order", "--date=raw", "--no-show-signature"];
  const args = ["log", "-z", kind, ...order, format, `^${from}`, to, "--"];
  const answer = expectGit(await mergeRepo.through((own) => own.git(args)), "reading commits");
  const parts = zeroEnded(answer.raw).map(String);
  const found: ToldCommit[] = [];
  for (let at = 0; at + 6 <= parts.length; at += 6) {
    const [commit = "", parents = "", name = "", email = "", date = "", message = ""] = parts.slice(at, at + 6);
    const author = { name, email, at: date };
    found.push({ commit, parents: parents.split(" ").filter((one) => one !== ""), message, author });
  }
  return found;
}

const kindsOfCommits = { mainLine: "--first-parent", noMerges: "--no-merges", merges: "--merges" } as const;

export async function hasMerges(mergeRepo: MergeRepository, from: string, heads: readonly string[]): Promise<boolean> {
  const stdin = [`^${from}`, ...heads].map((commit) => `${commit}\n`).join("");
  const args = ["rev-list", "--merges", "--max-count=1", "--stdin"];
  return expectGit(await mergeRepo.through((own) => own.git(args, { stdin })), "reading commits").out !== "";
}

export async function hasChangesOf(mergeRepo: MergeRepository, into: string, commit: string): Promise<boolean> {
  const lone = ["rev-list", "--count", "--cherry-pick", "--right-only", "--no-merges", `${into}...${commit}`, "--"];
  const count = expectGit(await mergeRepo.through((own) => own.git(lone)), "comparing patches").out.trim();
  if (count === "0") return true;
  const args = ["log", "--no-show-signature", "--format=%T", `^${commit}`, into, "--"];
  const trees = expectGit(await mergeRepo.through((own) => own.git(args)), "comparing files").out.split("\n");
  return trees.includes(await treeOf(mergeRepo, commit));
}

/** The patch of these files from the merge base of `from` and `to` up to `to`. */
export async function patchOf(
  mergeRepo: MergeRepository,
  from: string,
  to: string,
  paths: readonly string[],
): Promise<string> {
  const args = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--submodule=short"];
  const since = (await baseOf(mergeRepo, from, to)) ?? from;
  const answer = await mergeRepo.through((own) => own.git([...args, "--end-of-options", since, to, "--", ...paths]));
  return expectGit(answer, "writing a patch").out;
}

export async function patch(
  mergeRepo: MergeRepository,
  from: string,
  to: string,
  paths: readonly string[] = [],
  { context = 3, ignoreSpace = false }: PatchForm = {},
): Promise<string> {
  const form = [`--unified=${context}`, ...(ignoreSpace ? ["--ignore-all-space"] : [])];
  const args = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--submodule=short", ...form];
  return expectGit(
    await mergeRepo.through((own) => own.git([...args, "--end-of-options", from, to, "--", ...paths])),
    "writing a patch",
  ).out;
}

export async function subjectOf(mergeRepo: MergeRepository, commit: string): Promise<string> {
  const args = ["show", "--no-patch", "--no-show-signature", "--format=%s", commit, "--"];
  return expectGit(await mergeRepo.through((own) => own.git(args)), `the subject of ${commit}`).out.trim();
}

export async function blobAt(mergeRepo: MergeRepository, commit: string, path: string): Promise<string | undefined> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${commit}:${path}`];
  const { code, out } = await mergeRepo.through((own) => own.git(args));
  return code === 0 ? out.trim() : undefined;
}

export async function readBlob(mergeRepo: MergeRepository, oid: string): Promise<Uint8Array> {
  return expectGit(await mergeRepo.through((own) => own.git(["cat-file", "blob", oid])), `reading ${oid}`).raw;
}

/** Many blobs through one process. */
export async function readBlobs(mergeRepo: MergeRepository, oids: readonly string[]): Promise<readonly Buffer[]> {
  if (oids.length === 0) return [];
  const stdin = oids.map((oid) => `${oid}\n`).join("");
  const answer = await mergeRepo.through((own) => own.git(["cat-file", "--batch=%(objectsize)"], { stdin }));
  const { raw } = expectGit(answer, "reading files");
  let at = 0;
  return oids.map((oid) => {
    const line = raw.indexOf("\n", at);
    const size = Number(raw.toString("latin1", at, line));
    if (line < 0 || !Number.isInteger(size)) throw new Error(`reading files: ${oid} cannot be read`);
    at = line + 1 + size + 1;
    return raw.subarray(line + 1, line + 1 + size);
  });
}

export async function objectsAt(
  mergeRepo: MergeRepository,
  places: readonly FilePlace[],
): Promise<readonly (StoredObject | undefined)[]> {
  if (places.length === 0) return [];
  const names = places.map(({ commit, path }) => Buffer.from(`${commit}:${path}`));
  const stdin = Buffer.concat(names.flatMap((name) => [name, Buffer.from([0])]));
  const args = ["cat-file", "-z", "--batch-check=%(objecttype) %(objectname) %(objectsize)"];
  const { raw } = expectGit(await mergeRepo.through((own) => own.git(args, { stdin })), "looking at files");
  let at = 0;
  return names.map((name) => {
    // A path may hold a line end.
    const missing = Buffer.concat([name, Buffer.from(" missing\n")]);
    if (raw.subarray(at, at + missing.length).equals(missing)) {
      at += missing.length;
      return undefined;
    }
    const end = raw.indexOf("\n", at);
    const line = raw.toString("latin1", at, end);
    at = end + 1;
    // Git names no type where the path is a pointer into another repository, unless it knows that commit.
    const [, pointed] = /^([0-9a-f]+) submodule$/.exec(line) ?? [];
    if (pointed !== undefined) return { type: "directory", id: pointed, bytes: 0 };
    const [, type, id = "", size] = /^(\w+) ([0-9a-f]+) (\d+)$/.exec(line) ?? [];
    if (end < 0 || type === undefined) throw new Error(`looking at files: ${name} cannot be read`);
    return { type: type === "blob" ? "file" : "directory", id, bytes: Number(size) };
  });
}

export async function linksOf(mergeRepo: MergeRepository, commit: string): Promise<ReadonlyMap<string, string>> {
  const args = ["ls-tree", "-r", "-z", "--full-tree", commit];
  const listed = expectGit(await mergeRepo.through((own) => own.git(args)), `looking for links in ${commit}`);
  const links = zeroEnded(listed.raw).flatMap((line) => {
    const [, oid, path] = /^120000 blob (\S+)\t(.+)$/s.exec(String(line)) ?? [];
    return oid === undefined || path === undefined ? [] : [{ oid, path }];
  });
  const targets = await readBlobs(
    mergeRepo,
    links.map(({ oid }) => oid),
  );
  return new Map(links.map(({ path }, at) => [path, String(targets[at])]));
}

export async function unusableNames(mergeRepo: MergeRepository, from: string, to: string): Promise<readonly string[]> {
  const since = (await baseOf(mergeRepo, from, to)) ?? from;
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--diff-filter=d", since, to];
  const parts = zeroEnded(expectGit(await mergeRepo.through((own) => own.git(args)), `comparing ${to}`).raw);
  // Each file is two parts: ":<mode before> <mode> ..." and its name.
  return parts.filter((name, at) => at % 2 === 1 && !isUsable(name.toString("latin1"), parts[at - 1])).map(String);
}

/** As git and the file system judge it; one character of the path is one byte. To git a backslash ends a name, too. */
const isUsable = (path: string, facts: Buffer | undefined): boolean => {
  const isLink = facts?.toString("latin1").split(" ")[1] === "120000";
  return (
    path.length <= longestPath &&
    path.split("/").every((part) => part.length <= longestName && !/^\.{0,2}$/.test(part)) &&
    path.split(/[/\\]/).every((part) => !ofGit.test(part) && !(isLink && ofModules.test(part)))
  );
};

/** The names that some file system takes for `.git`, and for `.gitmodules`, which must not be a link. */
const ofGit = /^(\.git|git~1)[ .]*(:.*)?$/i;
const ofModules = /^(\.gitmodules|gitmod~[1-4]|(?=.{8}([ .:]|$))g?i?7?e?b?a?~[1-9]\d*)[ .]*(:.*)?$/i;

const longestName = 255;
/** The system allows 4095 for the whole path; our own directories come before it. */
const longestPath = 3500;

/** A path named by a command may lead out of the repository, and git refuses such paths. */
const isWithin = (path: string): boolean =>
  path !== "" && path.split("/").every((part) => part !== "" && part !== "." && part !== "..");

export async function linksAt(
  mergeRepo: MergeRepository,
  commit: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const asked = new Set(paths.filter(isWithin).flatMap((path) => [...parentsOf(path), path]));
  const links = new Map<string, string>();
  if (asked.size === 0) return links;
  const args = ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", ...asked];
  const listed = expectGit(await mergeRepo.through((own) => own.git(args)), `looking for links in ${commit}`);
  for (const line of zeroEnded(listed.raw).map(String)) {
    const [, oid = "", path = ""] = /^120000 blob (\S+)\t(.+)$/s.exec(line) ?? [];
    if (asked.has(path)) links.set(path, Buffer.from(await readBlob(mergeRepo, oid)).toString());
  }
  return links;
}
