import { join } from "node:path";
import { Failure } from "../../../domain/failure.ts";
import { readText } from "../../file-access.ts";
import { expectGit } from "../git.ts";
import type { OwnDir } from "../own-dir.ts";
import { objectHasher, type Repository } from "../repository.ts";

/**
 * Git does not compare the content of a file with its id when it writes the file, and agents can write the files in which
 * objects are kept. Without this check a gate could see other content than the tree that lands. Throws where an object
 * is missing, or has content that is not its own; and where a tree of new ones is tangled. Old history may have such trees.
 */
export async function expectSound(own: OwnDir, repository: HasFormat, terms: SoundTerms): Promise<void> {
  const unsound = await unsoundOf(own, repository, terms);
  if (unsound === undefined) return;
  const { id, isTangled } = unsound;
  const what = isTangled ? tangledWords(id) : missingWords(id);
  const problem = `${what}; look at it: git fsck; then commit its file again`;
  throw new Failure({ kind: "commit-refused", commit: terms.commit, problem });
}

type HasFormat = Pick<Repository, "objectFormat">;

interface SoundTerms {
  readonly commit: string;
  readonly ids: Promise<Iterable<string>>;
  /** No branch of the project has them yet, but for `known`. */
  readonly areNew: boolean;
  /** Commits of the user's own branches: their trees are as they are. */
  readonly known?: readonly string[] | undefined;
}

const missingWords = (id: string): string =>
  `the object ${id} of it is missing or does not have the content that its id stands for`;
export const tangledWords = (id: string): string =>
  `the directory ${id} of it names a file twice, or its files in no order, so that each program finds other files in it`;

/** The first object of a commit that is missing, or has content that is not its own, or is a tangled new tree. */
export async function unsoundOf(
  own: OwnDir,
  { objectFormat }: HasFormat,
  { commit, ids, areNew, known = [] }: SoundTerms,
): Promise<{ readonly id: string; readonly isTangled: boolean } | undefined> {
  const wanted = ids.then((all) => [...new Set(all)]);
  const reader = new ObjectReader(objectFormat, areNew);
  // Git starts while others still list the objects.
  const stdin = wanted.then((all) => all.map((id) => `${id}\n`).join(""));
  const onOutput = (part: Uint8Array): void => reader.read(part);
  // No caller waits for a single answer, so git need not write each of them by itself.
  const args = ["cat-file", "--batch", "--buffer"];
  expectGit(await own.git(args, { stdin, onOutput }), `reading the objects of ${commit}`);
  const missing = (await wanted).find((id, at) => reader.found[at] !== id);
  if (missing !== undefined) return { id: missing, isTangled: false };
  const [tangled] = await notKnown(own, reader.tangled, { commit, known });
  return tangled === undefined ? undefined : { id: tangled, isTangled: true };
}

/** Those of these trees of a commit that no known commit has. */
async function notKnown(
  own: OwnDir,
  trees: readonly string[],
  { commit, known }: { readonly commit: string; readonly known: readonly string[] },
): Promise<readonly string[]> {
  if (trees.length === 0 || known.length === 0) return trees;
  const args = ["rev-list", "--objects", "--no-object-names", commit, ...known.map((one) => `^${one}`)];
  const beyond = new Set(expectGit(await own.git(args), `listing the objects of ${commit}`).out.split("\n"));
  return trees.filter((tree) => beyond.has(tree));
}

/** Reads what `cat-file --batch` prints, in parts of any size: an object may be larger than the memory. */
class ObjectReader {
  /** Of each object the id that its content has, in the order in which they were asked for; empty for a missing one. */
  readonly found: string[] = [];
  /** The trees that are tangled, of those that were looked at. */
  readonly tangled: string[] = [];
  readonly #objectFormat: string;
  readonly #looksAtTrees: boolean;
  #line = "";
  #hash: Bun.CryptoHasher | undefined;
  #tree: TreeOrder | undefined;
  /** Bytes left of the object. */
  #left = 0;
  /** After each object comes one line end. */
  #endsLine = false;

  constructor(objectFormat: string, looksAtTrees: boolean) {
    this.#objectFormat = objectFormat;
    this.#looksAtTrees = looksAtTrees;
  }

  read(part: Uint8Array): void {
    const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    for (let at = 0; at < bytes.length; ) {
      if (this.#endsLine) {
        this.#endsLine = false;
        at++;
      } else if (this.#hash === undefined) at = this.#readLine(bytes, at);
      else at = this.#readContent(this.#hash, bytes, at);
    }
  }

  #readLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(lineEnd, at);
    this.#line += bytes.toString("latin1", at, end < 0 ? bytes.length : end);
    if (end < 0) return bytes.length;
    const [, type = "", size = ""] = this.#line.split(" ");
    this.#line = "";
    if (size === "") this.found.push("");
    else {
      this.#left = Number(size);
      this.#hash = objectHasher(this.#objectFormat).update(`${type} ${size}\0`);
      this.#tree = this.#looksAtTrees && type === "tree" ? new TreeOrder(this.#objectFormat) : undefined;
      if (this.#left === 0) this.#end(this.#hash);
    }
    return end + 1;
  }

  #readContent(hash: Bun.CryptoHasher, bytes: Buffer, at: number): number {
    const content = bytes.subarray(at, at + this.#left);
    hash.update(content);
    this.#tree?.read(content);
    this.#left -= content.length;
    if (this.#left === 0) this.#end(hash);
    return at + content.length;
  }

  #end(hash: Bun.CryptoHasher): void {
    const id = hash.digest("hex");
    this.found.push(id);
    if (this.#tree?.isTangled === true) this.tangled.push(id);
    this.#hash = undefined;
    this.#endsLine = true;
  }
}

/**
 * Reads a tree in parts. Git takes a tree for ordered by name, a directory as if its name ended with a slash. In any other
 * one git and other programs, or two commands of git, find different files by the same name.
 */
class TreeOrder {
  isTangled = false;
  readonly #idBytes: number;
  readonly #names = new Set<string>();
  #rest = Buffer.alloc(0);
  #last = "";

  constructor(objectFormat: string) {
    this.#idBytes = objectFormat === "sha256" ? 32 : 20;
  }

  read(part: Buffer): void {
    // An entry is: mode, space, name, zero byte, id.
    const bytes = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part]);
    let at = 0;
    for (;;) {
      const zero = bytes.indexOf(0, at);
      const end = zero + 1 + this.#idBytes;
      if (zero < 0 || end > bytes.length) break;
      const [, mode = "", name = ""] = /^(\d*) (.*)$/s.exec(bytes.toString("latin1", at, zero)) ?? [];
      const placed = /^0*40000$/.test(mode) ? `${name}/` : name;
      if (placed <= this.#last || this.#names.has(name)) this.isTangled = true;
      this.#names.add(name);
      this.#last = placed;
      at = end;
    }
    this.#rest = Buffer.from(bytes.subarray(at));
  }
}

/**
 * What a commit brings that another one does not have, with the history in between. A shallow clone ends at commits
 * that its target has. Where the history of the new commits ends elsewhere, an agent wrote the file that says so, and
 * objects out of sight may be behind it: refused.
 */
export async function newObjects(own: OwnDir, from: string, to: string): Promise<readonly string[]> {
  const args = ["rev-list", "--objects", "--no-object-names", to, `^${from}`];
  const ids = expectGit(await own.git(args), `listing the objects of ${to}`)
    .out.split("\n")
    .filter((id) => id !== "");
  const ends = endsOfHistory(own);
  const end = ends.size === 0 ? undefined : ids.find((id) => ends.has(id));
  if (end === undefined) return ids;
  const problem = `${shallowWords} at ${end}, so that what is before this commit cannot be looked at; ${shallowAdvice}`;
  throw new Failure({ kind: "commit-refused", commit: to, problem });
}

/** The commits at which the history of a shallow clone ends, as git takes it in this directory. */
export function endsOfHistory({ dir }: Pick<OwnDir, "dir">): ReadonlySet<string> {
  return new Set((readText(join(dir, "shallow")) ?? "").split("\n").filter((id) => id !== ""));
}

export const shallowWords = "the file .git/shallow ends the history";
export const shallowAdvice =
  "fetch the whole history: git fetch --unshallow; where nobody made a shallow clone, delete the file: rm .git/shallow";

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

const lineEnd = 0x0a;
