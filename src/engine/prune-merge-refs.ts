import { backupRef, queueRef } from "./merge/ports.ts";
import type { EnginePorts } from "./ports.ts";

/**
 * Lets go of the refs that old landings left: the tip before each move, and the head of each branch that is part of its
 * landing branch now. The head of one that did not land, or was taken back, stays: nothing else may hold it.
 */
export async function pruneMergeRefs(
  { store, merging, worktrees, clock }: Pick<EnginePorts, "store" | "merging" | "worktrees" | "clock">,
  before: number,
): Promise<void> {
  const refs = await merging.refsBelow("refs/overstory/");
  const gone = await store.read(async (tx) => {
    const spared: { readonly ref: string; readonly commit: string }[] = [];
    for (const { ref, commit } of refs) {
      const name = ref.slice(ref.lastIndexOf("/") + 1);
      if (ref === backupRef(name)) {
        const op = await tx.mergeOps.get(name);
        if (op !== undefined && op.status !== "intended" && op.updatedAt < before) spared.push({ ref, commit });
      } else if (ref === queueRef(Number(name))) {
        const entry = await tx.merges.get(Number(name));
        if (entry?.status === "merged" && entry.updatedAt < before) spared.push({ ref, commit });
      }
    }
    return spared;
  });
  if (gone.length === 0) return;
  await worktrees.deleteRefs(gone);
  const data = { refs: gone.map(({ ref }) => ref) };
  await store.transaction((tx) =>
    tx.events.append([{ source: "engine", type: "merge_refs_pruned", data, createdAt: clock.now() }]),
  );
}
