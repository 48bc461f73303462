import { existsSync, lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeWithin } from "../../file-access.ts";
import { expectGit } from "../git.ts";
import { readBlobs } from "./history.ts";
import type { MergeRepository } from "./merge-repository.ts";
import { below, isRegular, nameOf, type TrackedFile, trackedFiles } from "./tracked.ts";

/** The attribute files that decide a merge, by the digest of their names and contents; `none` when none does. */
export type AttributeSet = string;
export const none: AttributeSet = "none";

/** Which attributes a commit has, looked up once per commit. */
export interface Attributes {
  /** The set that counts where this commit is ours. */
  of(commit: string): Promise<AttributeSet>;
  /** A work tree with nothing but the attribute files of a set that was answered before. */
  workTree(set: AttributeSet): string;
  /** Does the set give the path this value of `merge`? */
  mergeIs(set: AttributeSet, path: string, value: string): Promise<boolean>;
}

/** Git takes attributes from a work tree only, so each set that matters becomes a small one in the scratch directory. */
export function readAttributes(mergeRepo: MergeRepository): Attributes {
  const sets = new Map<string, Promise<AttributeSet>>();
  const files = new Map<AttributeSet, readonly AttributeFile[]>([[none, []]]);
  const workTree = (set: AttributeSet): string => provide(mergeRepo.scratch, set, files.get(set) ?? []);
  return {
    of: (commit) => {
      const known = sets.get(commit) ?? look(mergeRepo, commit, files);
      remember(sets, commit, known);
      return known;
    },
    workTree,
    mergeIs: async (set, path, value) => {
      if (set === none) return false;
      const dir = workTree(set);
      const args = ["-C", dir, "check-attr", "-z", "merge", "--", path];
      const answer = await mergeRepo.through((own) => own.git(args, { env: { GIT_WORK_TREE: dir } }));
      expectGit(answer, "asking for attributes");
      return answer.out.split("\0")[2] === value;
    },
  };
}

interface AttributeFile {
  readonly path: string;
  readonly content: Buffer;
}

const mostCommits = 1000;

function remember(sets: Map<string, Promise<AttributeSet>>, commit: string, set: Promise<AttributeSet>): void {
  sets.set(commit, set);
  const [oldest] = sets.keys();
  if (sets.size > mostCommits && oldest !== undefined) sets.delete(oldest);
  // The next to ask tries again; this one hears of it.
  set.catch(() => sets.delete(commit));
}

async function look(
  mergeRepo: MergeRepository,
  commit: string,
  known: Map<AttributeSet, readonly AttributeFile[]>,
): Promise<AttributeSet> {
  const found = (await trackedFiles(mergeRepo, commit)).filter(isAttributeFile);
  if (found.length === 0) return none;
  const files = await contents(mergeRepo, found);
  if (!files.some(mayDecide)) return none;
  const hash = new Bun.CryptoHasher("sha256");
  for (const { path, oid } of found) hash.update(`${oid}\t${path}\0`, "latin1");
  const set = hash.digest("hex").slice(0, 32);
  known.set(set, files);
  return set;
}

/** Git itself follows no link here, and a path that leads out of the work tree is not one that git would check out. */
const isAttributeFile = (file: TrackedFile): boolean =>
  nameOf(file.path) === ".gitattributes" &&
  isRegular(file) &&
  !file.path.split("/").some((part) => part === "" || part === "." || part === ".." || part.toLowerCase() === ".git");

/** Most attribute files are about line ends or languages and have no say in a merge. A macro may hide what it sets. */
const mayDecide = ({ content }: AttributeFile): boolean =>
  ["merge", "binary", "[attr]"].some((word) => content.includes(word));

async function contents(mergeRepo: MergeRepository, files: readonly TrackedFile[]): Promise<readonly AttributeFile[]> {
  const blobs = await readBlobs(
    mergeRepo,
    files.map(({ oid }) => oid),
  );
  return files.map(({ path }, at) => ({ path, content: blobs[at] ?? Buffer.alloc(0) }));
}

/** Made aside and moved to its place, so that no reader finds a half-written directory. */
function provide(scratch: string, set: AttributeSet, files: readonly AttributeFile[]): string {
  const place = join(scratch, `attributes-${set}`);
  const stat = lstatSync(place, { throwIfNoEntry: false });
  // What lies unused in the scratch directory is swept away after hours.
  if (stat !== undefined && Date.now() - stat.mtimeMs < freshMs) return place;
  if (stat === undefined) {
    makeWithin(scratch, 3);
    const aside = mkdtempSync(join(scratch, "attributes-new-"));
    for (const { path, content } of files) {
      const to = below(aside, path);
      mkdirSync(to.subarray(0, to.lastIndexOf("/")), { recursive: true });
      writeFileSync(to, content);
    }
    settle(aside, place);
  }
  const now = new Date();
  utimesSync(place, now, now);
  return place;
}

const freshMs = 600_000;

function settle(aside: string, place: string): void {
  try {
    renameSync(aside, place);
  } catch (error) {
    // Another process was faster with the same files.
    rmSync(aside, { recursive: true, force: true });
    if (!existsSync(place)) throw error;
  }
}
