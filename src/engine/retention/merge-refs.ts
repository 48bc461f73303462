import { isOpenMerge } from "../../domain/merge/entry.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../../usecases/events/record.ts";
import { backupRef, queueRef } from "../merge/ports.ts";
import type { EnginePorts } from "../ports.ts";
import { type Prune, turnOf } from "./prune.ts";

/** Asking who else holds a commit takes git through the whole history, and what nobody holds is asked about again. */
const mostAsked = 20;

interface Pinned {
  readonly ref: string;
  readonly commit: string;
}

type RefPorts = Pick<EnginePorts, "store" | "merging" | "worktrees" | "clock">;

/**
 * Lets go of the refs that old merges left: the tip before each move, the head of each branch that is part of its landing
 * branch now, and the head of one that did not land, or was taken back, if a branch, a tag or the like holds it too.
 * What nothing else holds stays for ever.
 */
export const pruneMergeRefs: Prune<RefPorts> = async (ports, { before, hour }) => {
  const { store, merging, worktrees, clock } = ports;
  const refs = await merging.refsBelow("refs/overstory/");
  const { spared, unlanded } = await store.read(async (tx) => {
    const found: Record<"spared" | "unlanded", Pinned[]> = { spared: [], unlanded: [] };
    for (const pinned of refs) {
      const kind = await kindOf(tx, pinned.ref, before);
      if (kind !== undefined) found[kind].push(pinned);
    }
    return found;
  });
  const gone = [...spared, ...(await heldElsewhere(ports, turnOf(unlanded, mostAsked, hour)))];
  if (gone.length === 0) return { removed: 0, more: false };
  await worktrees.deleteRefs(gone);
  const data = { refs: gone.map(({ ref }) => ref) };
  await store.transaction((tx) => record(tx, clock.now(), { source: "engine", type: "merge_refs_pruned", data }));
  return { removed: gone.length, more: false };
};

async function kindOf(tx: Tx, ref: string, before: number): Promise<"spared" | "unlanded" | undefined> {
  const name = ref.slice(ref.lastIndexOf("/") + 1);
  if (ref === backupRef(name)) {
    const op = await tx.mergeOps.get(name);
    return op !== undefined && op.status !== "intended" && op.updatedAt < before ? "spared" : undefined;
  }
  const entry = ref === queueRef(Number(name)) ? await tx.merges.get(Number(name)) : undefined;
  if (entry === undefined || isOpenMerge(entry) || entry.updatedAt >= before) return undefined;
  return entry.status === "merged" ? "spared" : "unlanded";
}

async function heldElsewhere({ merging }: RefPorts, pinned: readonly Pinned[]): Promise<readonly Pinned[]> {
  const held: Pinned[] = [];
  for (const one of pinned) {
    const holders = await merging.refsWith(one.commit);
    // Ours are let go of some day, too.
    if (holders.some((ref) => !ref.startsWith("refs/overstory/"))) held.push(one);
  }
  return held;
}
