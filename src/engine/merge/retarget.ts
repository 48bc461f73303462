import type { MergeEntry } from "../../domain/merge/entry.ts";
import { landingInstead } from "./landing-branch.ts";
import type { MergePorts } from "./ports.ts";

/** Entries whose target was checked out meanwhile go to a landing branch instead: nobody's files are merged into. */
export async function retarget(ports: MergePorts, entries: readonly MergeEntry[]): Promise<readonly MergeEntry[]> {
  const instead = new Map<string, Promise<string>>();
  const placed: MergeEntry[] = [];
  for (const entry of entries) {
    const { targetBranch, runId } = entry;
    const key = JSON.stringify([targetBranch, runId]);
    const asked = instead.get(key) ?? landingInstead(ports, targetBranch, runId);
    instead.set(key, asked);
    const landing = await asked;
    if (landing !== targetBranch) {
      const change = { targetBranch: landing, updatedAt: ports.clock.now() };
      await ports.store.transaction((tx) => tx.merges.change(entry.id, ["pending", "blocked"], change));
    }
    placed.push(landing === targetBranch ? entry : { ...entry, targetBranch: landing });
  }
  return placed;
}
