import type { MergeEntry, MergeStatus } from "../../domain/merge/entry.ts";
import type { LandedAlong } from "../../domain/merge/operation.ts";
import type { Tx } from "../../ports/store.ts";
import { branchRef, type MergePorts } from "./ports.ts";
import type { Landing } from "./train/steps.ts";

interface AlongRequest {
  readonly target: string;
  readonly landing: Landing<MergeEntry>;
}

/** Nobody works on these, and whatever was in their way, what has landed has landed. */
const resting = ["pending", "blocked", "conflict", "failed", "reverted"] as const satisfies readonly MergeStatus[];

export const isResting = (entry: MergeEntry | undefined): boolean => resting.some((status) => status === entry?.status);

/**
 * Entries whose whole branch comes in with this landing, though it does not name them: those of the branches that a
 * merger joined, or on which others built. What the target held before is not brought by it, as it may have been landed
 * and taken back.
 */
export async function comingAlong(ports: MergePorts, { target, landing }: AlongRequest): Promise<LandedAlong[]> {
  const { store, merging } = ports;
  const others = await store.read((tx) => restingOn(tx, target));
  if (others.length === 0) return [];
  const brought = await merging.refsBetween(landing.from.commit, landing.to.commit);
  const heads = new Map(brought.map(({ ref, commit }) => [ref, commit]));
  const found: LandedAlong[] = [];
  for (const entry of others) {
    const head = heads.get(branchRef(entry.branch));
    const bringer = head === undefined ? undefined : await bringerOf(ports, landing, head);
    if (head === undefined || bringer === undefined) continue;
    if (awaitsOperator(entry, bringer.entry) || !(await bringsAnnounced(ports, landing, entry))) continue;
    found.push({
      id: entry.id,
      head,
      commit: bringer.tip.commit,
      tier: entry.status === "conflict" ? "ai-resolve" : bringer.tier,
      strategy: `with ${bringer.entry.branch}`,
    });
  }
  return found;
}

/** What the operator was asked about, or refused, is not answered by somebody else's landing. */
const awaitsOperator = ({ approval }: MergeEntry, bringer: MergeEntry): boolean =>
  (approval === "waiting" || approval === "denied") && bringer.approval !== "operator";

/** A branch that its owner has moved back since does not hold what was announced for it. */
const bringsAnnounced = async ({ merging }: MergePorts, { to }: Landing<MergeEntry>, { headCommit }: MergeEntry) =>
  headCommit === "" || (await merging.contains(to.commit, headCommit));

/** An entry that a later one of its branch followed is history. */
async function restingOn(tx: Tx, target: string): Promise<readonly MergeEntry[]> {
  const last: MergeEntry[] = [];
  for (const entry of await tx.merges.list({ statuses: resting })) {
    if (entry.targetBranch !== target) continue;
    const [newest] = await tx.merges.list({ branch: entry.branch, limit: 1 });
    if (newest?.id === entry.id) last.push(entry);
  }
  return last;
}

/** The first member that holds it. */
async function bringerOf({ merging }: MergePorts, { members }: Landing<MergeEntry>, head: string) {
  for (const member of members) if (await merging.contains(member.tip.commit, head)) return member;
  return undefined;
}
