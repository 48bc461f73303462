import { environmentOf } from "../../domain/completion/check.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import type { Place } from "../../ports/store/old-rows.ts";
import type { Tx } from "../../ports/store.ts";
import type { EnginePorts } from "../ports.ts";
import type { Prune, Pruned, When } from "./prune.ts";

type EvidencePorts = Pick<EnginePorts, "store" | "forgetEnvironment">;

/** A look must not hold the writers' lock for long, however much there is. */
const mostAtOnce = 500;
const mostLooks = 4;

/**
 * These delete checks, receipts and gate results that no landing rests on. The evidence of a landing stays for ever,
 * because a landing can be undone and redone at any time. Each looks at a few rows in a pass, the newest first, and
 * goes on where the last pass ended.
 */
export const pruneChecks: Prune<EvidencePorts> = (ports, when) =>
  walk(ports, "checks", when, (tx, from) => spareChecks(tx, ports, from));

export const pruneReceipts: Prune<EvidencePorts> = (ports, when) => walk(ports, "receipts", when, spareReceipts);

export const pruneGateResults: Prune<EvidencePorts> = (ports, when) => walk(ports, "gate results", when, spareResults);

async function walk(
  { store }: EvidencePorts,
  what: string,
  { before }: When,
  look: (tx: Tx, from: Place) => Promise<Part>,
): Promise<Pruned> {
  let removed = 0;
  for (let looks = 0; looks < mostLooks; looks++) {
    const part = await store.transaction(async (tx) => {
      const saved = await tx.oldRows.place(what);
      // A user may have raised the days since the last pass. Rows after `before` must stay then.
      const from = saved === null || saved.at >= before ? { at: before, id: "" } : saved;
      const seen = await look(tx, from);
      if (saved !== null || seen.last !== null) await tx.oldRows.setPlace(what, seen.last);
      return seen;
    });
    part.after?.();
    removed += part.purged;
    if (part.last === null) return { removed, more: false };
  }
  return { removed, more: true };
}

interface Part {
  readonly purged: number;
  readonly last: Place | null;
  /** What follows once it is on record. */
  after?(): void;
}

const nothing: Part = { purged: 0, last: null };

/** A command may attach to a completion for as long as its agent could ask again. */
async function spareChecks(tx: Tx, { forgetEnvironment }: EvidencePorts, from: Place): Promise<Part> {
  const old = await tx.checks.answered(from, mostAtOnce);
  const gone = [];
  for (const check of old) {
    if (check.agentName === null || (await isOver(tx, check.agentName, check.agentId))) gone.push(check);
  }
  const purged = await tx.checks.remove(gone.map(({ id }) => id));
  // Those of an engine that died between the answer and this.
  const files = gone.flatMap((check) => environmentOf(check) ?? []);
  const after = (): void => {
    for (const file of files) forgetEnvironment(file);
  };
  return { purged, last: lastOf(old, (check) => check.updatedAt), after };
}

/** Work that is neither released nor out of the queue may still be asked for what speaks for it. */
async function spareReceipts(tx: Tx, from: Place): Promise<Part> {
  // One of them may be about to be run again.
  if (await tx.checks.dueWork()) return nothing;
  const old = await tx.receipts.passing(from, mostAtOnce);
  const gone = [];
  for (const { id, kind, subject } of old) {
    const isFree = kind === "check" || (await isOver(tx, subject.slice(0, subject.lastIndexOf("#")), null));
    if (isFree) gone.push(id);
  }
  return { purged: await tx.receipts.remove(gone), last: lastOf(old, (receipt) => receipt.createdAt) };
}

/** While gates are asked, an old result may be on its way into a new receipt. */
async function spareResults(tx: Tx, from: Place): Promise<Part> {
  const isBusy =
    (await tx.checks.dueWork()) ||
    (await tx.mergeAttempts.unfinished()).length > 0 ||
    (await tx.mergeOps.list({ status: "intended", limit: 1 })).length > 0;
  return isBusy ? nothing : tx.gates.purgeUnproving(from, mostAtOnce);
}

/** No agent of that name is at work or waits for its branch to land. Of an incarnation: or it has a successor. */
async function isOver(tx: Tx, name: string, agentId: string | null): Promise<boolean> {
  const newest = await tx.agents.byName(name);
  if (newest === undefined || (agentId !== null && newest.id !== agentId)) return true;
  if (newest.releasedAt === null) return false;
  if (newest.branch === null) return true;
  return (await tx.merges.list({ branch: newest.branch, statuses: openMergeStatuses, limit: 1 })).length === 0;
}

function lastOf<Row extends { readonly id: string }>(rows: readonly Row[], timeOf: (row: Row) => number): Place | null {
  const last = rows.length < mostAtOnce ? undefined : rows.at(-1);
  return last === undefined ? null : { at: timeOf(last), id: last.id };
}
