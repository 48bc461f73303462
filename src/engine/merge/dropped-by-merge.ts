import { dropsLandedLines, tellByIds, type Versions } from "../../domain/merge/dropped-lines.ts";
import type { MergeGit } from "../../ports/merge-git.ts";
import { commandFor } from "../../usecases/merge/generated-files.ts";
import type { MergePorts } from "./ports.ts";

type DroppedPorts = Pick<MergePorts, "rules"> & {
  readonly merging: Pick<
    MergeGit,
    | "baseOf"
    | "contains"
    | "commitsSince"
    | "leavingPoints"
    | "merge"
    | "differing"
    | "treeOf"
    | "objectsAt"
    | "readBlobs"
  >;
};

/** A merge commit of a branch, and the files in which it left out lines that others have landed. */
export interface DroppedByMerge extends Found {
  readonly merge: string;
}

interface Found {
  readonly files: readonly string[];
  /** Files that may lack such lines too. They are too large to compare. */
  readonly tooLarge: readonly string[];
}

const nothing: Found = { files: [], tooLarge: [] };

export interface DroppedByMerges {
  readonly dropped: readonly DroppedByMerge[];
  /** The number of merges with landed work that were not compared, because there are too many. */
  readonly uncompared: number;
}

/**
 * Merge commits of a branch that left out what others have landed, where git would have taken it in without a conflict.
 * The result of git is compared with what the commit recorded. Files that a command makes do not count.
 */
export async function droppedByMerges(
  ports: DroppedPorts,
  { tip, head }: { readonly tip: string; readonly head: string },
): Promise<DroppedByMerges> {
  const all = await takingIn(ports.merging, tip, head);
  const merges = [...new Set(all.map(({ merge }) => merge))];
  const compared = new Set(merges.slice(0, mostCompared));
  const byMerge = new Map<string, { readonly files: Set<string>; readonly tooLarge: Set<string> }>();
  for (const sides of all) {
    if (!compared.has(sides.merge)) continue;
    const from = await droppedFrom(ports, { tip, head, ...sides });
    const found = byMerge.get(sides.merge) ?? { files: new Set(), tooLarge: new Set() };
    for (const path of from.files) found.files.add(path);
    for (const path of from.tooLarge) found.tooLarge.add(path);
    byMerge.set(sides.merge, found);
  }
  const dropped = [...byMerge].flatMap(([merge, { files, tooLarge }]) =>
    files.size + tooLarge.size === 0
      ? []
      : [{ merge, files: [...files].toSorted(), tooLarge: [...tooLarge].toSorted() }],
  );
  return { dropped, uncompared: merges.length - compared.size };
}

/** No honest branch merges landed work more often, and each comparison costs several git processes. */
const mostCompared = 40;

/**
 * The merges that brought landed work into the branch: one side has commits of the tip that the other side lacks. Two
 * git processes find them among any number of merges; most merges from elsewhere bring no landed work.
 */
async function takingIn(
  merging: DroppedPorts["merging"],
  tip: string,
  head: string,
): Promise<readonly Pick<MergeSides, "merge" | "ours" | "theirs">[]> {
  const merges = await merging.commitsSince(tip, head, "merges");
  const sides = merges.flatMap(({ commit: merge, parents }) =>
    parents.flatMap((theirs, at) => {
      const ours = parents[at === 0 ? 1 : 0];
      return ours === undefined ? [] : [{ merge, ours, theirs }];
    }),
  );
  const commits = [...new Set(sides.flatMap(({ ours, theirs }) => [ours, theirs]))];
  const points = await merging.leavingPoints(tip, commits);
  const pointsOf = new Map(commits.map((commit, at) => [commit, points[at] ?? new Set<string>()]));
  return sides.filter(({ ours, theirs }) => {
    const known = pointsOf.get(ours) ?? new Set();
    return [...(pointsOf.get(theirs) ?? [])].some((point) => !known.has(point));
  });
}

interface MergeSides {
  readonly tip: string;
  readonly head: string;
  readonly merge: string;
  readonly ours: string;
  readonly theirs: string;
}

async function droppedFrom({ merging, rules }: DroppedPorts, sides: MergeSides): Promise<Found> {
  const { tip, head, merge, ours, theirs } = sides;
  // The side may hold commits of the branch as well. Only its landed commits are the work of others.
  const landed = await merging.baseOf(tip, theirs);
  if (landed === undefined || (await merging.contains(ours, landed))) return nothing;
  const base = await merging.baseOf(ours, landed);
  const automatic = await merging.merge(ours, landed);
  if (base === undefined || (automatic.kind !== "clean" && automatic.kind !== "conflicts")) return nothing;
  const recorded = await merging.treeOf(merge);
  if (automatic.tree === recorded) return nothing;
  const [changed = [], differing = []] = await merging.differing([
    { from: base, to: landed },
    { from: automatic.tree, to: recorded },
  ]);
  const different = new Set(differing);
  const paths = changed.filter((path) => different.has(path) && commandFor(rules, path) === undefined);
  const commits = { base, ours, landed, automatic: automatic.tree, recorded, head, tip };
  const found = await compare(merging, paths, commits);
  if (found.files.length === 0) return found;
  // A file of others that the merge has under another name is not left out.
  const places = [
    ...found.files.map((path) => ({ commit: landed, path })),
    ...differing.map((path) => ({ commit: recorded, path })),
  ];
  const ids = (await merging.objectsAt(places)).map((one) => one?.id);
  const there = new Set(ids.slice(found.files.length));
  return { ...found, files: found.files.filter((_, at) => !there.has(ids[at])) };
}

type VersionName = keyof Versions<unknown>;

/** Ids and sizes come first: most files are told by them, and no file is read that is too large for that. */
async function compare(
  merging: DroppedPorts["merging"],
  paths: readonly string[],
  commits: Readonly<Record<VersionName, string>>,
): Promise<Found> {
  const names = Object.keys(commits) as VersionName[];
  const places = paths.flatMap((path) => names.map((name) => ({ commit: commits[name], path })));
  const objects = await merging.objectsAt(places);
  const found = { files: [] as string[], tooLarge: [] as string[] };
  const group: Unread[] = [];
  let bytes = 0;
  const readGroup = async (): Promise<void> => {
    found.files.push(...(await droppedAmong(merging, group)));
    group.length = 0;
    bytes = 0;
  };
  for (const [at, path] of paths.entries()) {
    const own = objects
      .slice(at * names.length, (at + 1) * names.length)
      .map((one) => (one?.type === "file" ? one : undefined));
    const ids = versionsOf(names, (_, n) => own[n]?.id);
    const told = tellByIds(ids);
    if (told === false) continue;
    const size = own.reduce((sum, one) => sum + (one?.bytes ?? 0), 0);
    if (own.every((one) => one === undefined || one.bytes <= longestText)) {
      group.push({ path, ids });
      bytes += size;
      if (bytes > mostBytesAtOnce) await readGroup();
    } else (told === true ? found.files : found.tooLarge).push(path);
  }
  await readGroup();
  return found;
}

interface Unread {
  readonly path: string;
  readonly ids: Versions<string>;
}

async function droppedAmong(merging: DroppedPorts["merging"], files: readonly Unread[]): Promise<readonly string[]> {
  const ids = [...new Set(files.flatMap((file) => Object.values(file.ids) as (string | undefined)[]))];
  const known = ids.filter((id) => id !== undefined);
  const contents = await merging.readBlobs(known);
  const texts = new Map(known.map((id, at) => [id, bytewise.decode(contents[at])]));
  const dropped: string[] = [];
  for (const { path, ids: own } of files) {
    const file = versionsOf(Object.keys(own) as VersionName[], (name) => texts.get(own[name] ?? ""));
    if (dropsLandedLines(file)) dropped.push(path);
    // Others need the engine meanwhile.
    await new Promise(setImmediate);
  }
  return dropped;
}

const versionsOf = (
  names: readonly VersionName[],
  of: (name: VersionName, at: number) => string | undefined,
): Versions<string> => Object.fromEntries(names.map((name, at) => [name, of(name, at)])) as unknown as Versions<string>;

/** In latin1 every byte is a character, so different bytes are different texts in every encoding. */
const bytewise = new TextDecoder("latin1");

/** Larger files are not read: their ids tell, or the operator is asked. */
const longestText = 1024 * 1024;

/** All versions of the files that are read together are in memory together. One more file may come on top. */
const mostBytesAtOnce = 16 * 1024 * 1024;
