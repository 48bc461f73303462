import { mkdirSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { UnfilledSubmodule } from "../../../ports/worktrees.ts";
import { fileRules } from "../filters.ts";
import { passOnFull } from "../full-disk.ts";
import { copyIndex, type PoolPlace } from "../gate-places/pool-place.ts";
import {
  extrasIn,
  layoutOf,
  noteLeftFiles,
  remove,
  type SweepTerms,
  sweep,
  takeLeftFiles,
} from "../gate-places/sweep.ts";
import type { MergeRepository } from "../merge/merge-repository.ts";
import { expectSound, treesOf } from "../merge/sound-objects.ts";
import { filesOf } from "../merge/tracked.ts";
import { removeAll } from "../work/trash.ts";
import { writeFiles } from "./fill.ts";
import { layOutModule, writeLink } from "./lay-out.ts";
import { type ModulePlan, moduleDirIn, type PlannedModule, unfilledBy } from "./plan.ts";
import { isRealDirectory, openRefs } from "./users-module.ts";

/**
 * Gives a place of the pool the submodules of its commit. Commands of agents ran there before, so only files that are as
 * this process left them stay. The indexes lie in `state`. Answers the submodules that are empty.
 */
export async function refillSubmodules(
  mergeRepo: MergeRepository,
  place: PoolPlace,
  { plan, state, mayStayInside }: Pick<Where, "state" | "mayStayInside"> & { readonly plan: ModulePlan },
): Promise<readonly UnfilledSubmodule[]> {
  const unfilled = [...plan.unfilled];
  for (const module of plan.modules) {
    const dir = join(place.path, module.path);
    // What it is in stayed empty.
    if (unfilled.some(({ path }) => module.path.startsWith(`${path}/`))) continue;
    try {
      await refill(mergeRepo, { place, dir, state, mayStayInside, inside: insideOf(plan, module.path) }, module);
    } catch (error) {
      passOnFull(error, dir);
      empty(dir);
      unfilled.push(unfilledBy(error, module.path));
    }
  }
  return unfilled;
}

/** Paths, as the bytes they are made of, of the submodules that are filled inside one, from its own top. */
export function insideOf({ modules }: ModulePlan, outer: string): ReadonlySet<string> {
  const prefix = outer === "" ? "" : `${outer}/`;
  const inside = modules.filter(({ path }) => path.startsWith(prefix)).map(({ path }) => path.slice(prefix.length));
  return new Set(inside.map((path) => Buffer.from(path).toString("latin1")));
}

/** What is in the submodules of a checkout besides their files, from the top of the checkout. */
export async function extrasInSubmodules(
  { scratch }: MergeRepository,
  root: string,
  { modules }: ModulePlan,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { module, commit, path } of modules) {
    using own = openRefs(module, scratch);
    const extras = extrasIn(join(root, path), layoutOf(await filesOf(own, commit)));
    found.push(...extras.map((extra) => `${Buffer.from(path).toString("latin1")}/${extra}`));
  }
  return found;
}

interface Where {
  readonly place: PoolPlace;
  readonly dir: string;
  readonly state: string;
  readonly inside: ReadonlySet<string>;
  /** May files stay in a submodule that are not its own? */
  mayStayInside(): boolean;
}

async function refill(mergeRepo: MergeRepository, where: Where, planned: PlannedModule): Promise<void> {
  const { place, dir, state, inside, mayStayInside } = where;
  const { commit, module, names, path } = planned;
  const { scratch } = mergeRepo;
  if (!isRealDirectory(state)) removeAll(state);
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const key = join(state, new Bun.CryptoHasher("sha256").update(path).digest("hex").slice(0, 32));
  const index = `${key}.index`;
  // A git command that was killed leaves the lock behind. No other process uses this index.
  removeAll(`${index}.lock`);
  if (!isRealDirectory(dir)) mkdirSync(dir, { recursive: true });
  const { trust } = mergeRepo.repository;
  const { digest } = await fileRules({ ...module, trust });
  const form = `${commit} ${digest}`;
  const left = takeLeftFiles(index);
  using own = openRefs(module, scratch);
  const files = await filesOf(own, commit);
  const staying = new Set<string>();
  if (left?.form !== form) {
    empty(dir);
    removeAll(index);
  } else {
    const isAsLeft: SweepTerms["isAsLeft"] = (file, stat) => {
      if (!left.isAsLeft(file, stat)) return false;
      staying.add(file);
      return true;
    };
    sweep(dir, layoutOf(files), { mayStay: mayStayInside, isAsLeft, filledElsewhere: inside });
    remove(dir, ".git");
  }
  const written = files.filter((file) => file.mode !== "160000" && !staying.has(file.path));
  const ids = treesOf(own, commit).then((trees) => [...trees, ...written.map(({ oid }) => oid)]);
  await expectSound(own, module, { commit, ids, areNew: false });
  await writeFiles({ planned, workTree: dir, index, scratch, trust });
  const gitDir = moduleDirIn(realpathSync(place.gitDir), names);
  const workTree = realpathSync(dir);
  await layOutModule({ dir: gitDir, finalDir: gitDir, workTree, commit, module, scratch });
  writeLink(workTree, gitDir);
  copyIndex(index, join(gitDir, "index"));
  await noteLeftFiles(index, { form, root: dir, files });
}

function empty(dir: string): void {
  if (isRealDirectory(dir)) for (const name of readdirSync(dir, { encoding: "latin1" })) remove(dir, name);
}
