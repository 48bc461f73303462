import type { MergeEntry } from "../../domain/merge/entry.ts";
import { moveEntry } from "../../usecases/merge/move-entry.ts";
import { landingInstead } from "./landing-branch.ts";
import { type MergePorts, mergeContext } from "./ports.ts";

/** Entries whose target was checked out meanwhile go to a landing branch instead: nobody's files are merged into. */
export async function retarget(ports: MergePorts, entries: readonly MergeEntry[]): Promise<readonly MergeEntry[]> {
  const instead = new Map<string, Promise<string>>();
  const placed = new Map<number, MergeEntry>();
  for (const entry of entries) {
    const { targetBranch, runId } = entry;
    const key = JSON.stringify([targetBranch, runId]);
    const asked = instead.get(key) ?? landingInstead(ports, targetBranch, runId);
    instead.set(key, asked);
    const landing = await asked;
    const here = landing === targetBranch ? entry : await move(ports, entry, landing);
    if (here !== undefined) placed.set(entry.id, here);
  }
  return stillOpen(ports, placed);
}

const move = (ports: MergePorts, entry: MergeEntry, landing: string): Promise<MergeEntry | undefined> =>
  ports.store.transaction((tx) => moveEntry(tx, mergeContext(ports), entry, landing));

/** One that was placed may have given its place to one that came after it. */
async function stillOpen(
  { store }: MergePorts,
  placed: ReadonlyMap<number, MergeEntry>,
): Promise<readonly MergeEntry[]> {
  const now = await store.read((tx) => tx.merges.list({ statuses: ["pending", "blocked"] }));
  const open = new Set(now.map(({ id }) => id));
  return [...placed.values()].filter(({ id }) => open.has(id));
}
