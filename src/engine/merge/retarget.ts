import type { MergeEntry } from "../../domain/merge/entry.ts";
import { moveEntry } from "../../usecases/merge/queue/enqueue.ts";
import { landingInstead } from "./landing-branch.ts";
import { type MergePorts, mergeContext } from "./ports.ts";

/** Entries whose target was checked out meanwhile go to a landing branch instead: nobody's files are merged into. */
export async function retarget(ports: MergePorts, entries: readonly MergeEntry[]): Promise<readonly MergeEntry[]> {
  const landings = new Map<string, string>();
  const keyOf = ({ targetBranch, runId }: MergeEntry): string => JSON.stringify([targetBranch, runId]);
  for (const entry of entries) {
    const key = keyOf(entry);
    if (!landings.has(key)) landings.set(key, await landingInstead(ports, entry.targetBranch, entry.runId));
  }
  const landingOf = (entry: MergeEntry): string => landings.get(keyOf(entry)) ?? entry.targetBranch;
  if (entries.every((entry) => landingOf(entry) === entry.targetBranch)) return stillOpen(ports, entries);
  const placed = await ports.store.transaction(async (tx) => {
    const found: MergeEntry[] = [];
    for (const entry of entries) {
      const landing = landingOf(entry);
      const here = landing === entry.targetBranch ? entry : await moveEntry(tx, mergeContext(ports), entry, landing);
      if (here !== undefined) found.push(here);
    }
    return found;
  });
  return stillOpen(ports, placed);
}

/** One that was placed may have given its place to one that came after it. */
async function stillOpen({ store }: MergePorts, placed: readonly MergeEntry[]): Promise<readonly MergeEntry[]> {
  const now = await store.read((tx) => tx.merges.list({ statuses: ["pending", "blocked"] }));
  const open = new Set(now.map(({ id }) => id));
  return placed.filter(({ id }) => open.has(id));
}
