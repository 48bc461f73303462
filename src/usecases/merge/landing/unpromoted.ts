import type { Gate, GateResult } from "../../../domain/gate/gate.ts";
import { termsHash } from "../../../domain/gate/gate.ts";
import { verdictOf } from "../../../domain/gate/verdict.ts";
import { type MergeEntry, mergeRef } from "../../../domain/merge/entry.ts";
import { type MergeOp, wasLater } from "../../../domain/merge/operation.ts";
import { failsAsBefore } from "../../../domain/merge/words.ts";
import type { Run } from "../../../domain/run/run.ts";
import type { Tx } from "../../../ports/store.ts";
import type { Context } from "../../usecase.ts";
import { failedTakeIn, isOfTarget, leftTips, purposeOf } from "./landing-target.ts";

/** Work that landed on a branch of ours and is not on its target yet. */
export interface Unpromoted {
  /** Null: no run lands there. */
  readonly runId: string | null;
  /** The active runs that land there. */
  readonly openRuns: readonly string[];
  readonly landing: string;
  readonly target: string;
  /** Landings since the last promotion. */
  readonly landings: number;
  /** Branches that were promoted, and that were taken out of the landing branch since. */
  readonly takenOut: number;
  /** The commit that the last promotion left on the target; null when there was none. */
  readonly promoted: string | null;
  /** The number of the merge by which the target's newest commits could not be taken in; null when none failed. */
  readonly notTakenIn: number | null;
  /** Why what waits is not proved, each reason once; empty when the gates prove it. */
  readonly unverified: readonly string[];
}

/** Among so many of the newest landings. */
const mostLandings = 200;

/** More runs than a person has active at a time, and those that ended meanwhile. */
const mostRuns = 100;

/** The landing branches whose work waits for a promotion, the newest landing first. Reads the record, not git. */
export async function unpromotedWork(tx: Tx, context: GateTerms): Promise<readonly Unpromoted[]> {
  const found: Unpromoted[] = [];
  const promotions = await tx.mergeOps.list({ kind: "promote", status: "done", limit: mostLandings });
  const last = new Map<string, MergeOp>();
  for (const op of promotions.toReversed()) {
    if (op.undoneBy === null) last.set(`refs/heads/${op.request.landing}`, op);
  }
  const landed = await tx.mergeOps.list({ kind: "land", status: "done", limit: mostLandings });
  const undone = await tx.mergeOps.list({ kind: "undo", status: "done", limit: mostLandings });
  // Most landing branches of a long-lived project have not changed since their promotion, and are not looked at.
  const changed = [...landed, ...undone].filter((op) => {
    const promoted = last.get(op.ref);
    return promoted === undefined || wasLater(op, promoted);
  });
  const active = changed.length === 0 ? [] : (await tx.runs.list(mostRuns)).filter(({ status }) => status === "active");
  for (const ref of new Set(changed.map((op) => op.ref))) {
    const landing = ref.replace(/^refs\/heads\//, "");
    const purpose = await purposeOf(tx, context, landing);
    if (purpose === null) continue;
    const landings = (await landingsSincePromotion(tx, landing)).length;
    const takenOut = (await takenOutSincePromotion(tx, landing)).length;
    if (landings === 0 && takenOut === 0) continue;
    const unverified = await doubtsAbout(tx, context, landing);
    const { target, run } = purpose;
    const notTakenIn = await failedTakeIn(tx, landing, target);
    const openRuns = active.filter(({ landingBranch }) => landingBranch === landing).map(({ id }) => id);
    const promoted = (await lastPromotion(tx, landing))?.afterCommit ?? null;
    const waits = { landings, takenOut, promoted, notTakenIn, unverified };
    found.push({ runId: run?.id ?? null, openRuns, landing, target, ...waits });
  }
  return found;
}

/** What landed on a branch since its last promotion, and was not taken back. */
export async function landingsSincePromotion(
  tx: Tx,
  landing: NonNullable<Run["landingBranch"]>,
): Promise<readonly MergeEntry[]> {
  const landed = await tx.mergeOps.list({ kind: "land", status: "done", ref: `refs/heads/${landing}`, limit: 200 });
  if (landed.length === 0) return [];
  const last = await lastPromotion(tx, landing);
  const waiting = landed.filter((op) => op.undoneBy === null && (last === undefined || wasLater(op, last)));
  const back = last === undefined ? [] : await undosSince(tx, landing, last, "undo");
  const entries = new Map<number, MergeEntry>();
  for (const id of [...back, ...waiting].flatMap(({ queueIds }) => queueIds)) {
    const entry = await tx.merges.get(id);
    if (entry?.status === "merged" && !(await isOfTarget(tx, entry))) entries.set(id, entry);
  }
  return [...entries.values()];
}

/** Entries that were promoted to the target and taken out of the landing branch since. */
async function takenOutSincePromotion(tx: Tx, landing: string): Promise<readonly MergeEntry[]> {
  const last = await lastPromotion(tx, landing);
  if (last === undefined) return [];
  const entries: MergeEntry[] = [];
  for (const id of (await undosSince(tx, landing, last, "land")).flatMap(({ queueIds }) => queueIds)) {
    const entry = await tx.merges.get(id);
    if (entry?.status === "reverted") entries.push(entry);
  }
  return entries;
}

/**
 * Undos since a promotion, of operations before it: the target has the undone work, and the landing branch does not.
 * Work that landed after the promotion never was on the target. Undoing an undo brings its work back.
 */
async function undosSince(tx: Tx, landing: string, last: MergeOp, of: "land" | "undo"): Promise<readonly MergeOp[]> {
  const undos = await tx.mergeOps.list({ kind: "undo", status: "done", ref: `refs/heads/${landing}`, limit: 200 });
  const found: MergeOp[] = [];
  for (const undo of undos) {
    if (!wasLater(undo, last) || undo.undoneBy !== null || undo.undoes === null) continue;
    const target = await tx.mergeOps.get(undo.undoes);
    if (target?.kind === of && !wasLater(target, last)) found.push(undo);
  }
  return found;
}

async function lastPromotion(tx: Tx, landing: string): Promise<MergeOp | undefined> {
  const promotions = await tx.mergeOps.list({ kind: "promote", status: "done", limit: 200 });
  return promotions.find(({ request, undoneBy }) => request.landing === landing && undoneBy === null);
}

type GateTerms = Pick<Context, "settings" | "ids">;

/**
 * Why the tree at the tip of a landing branch is not proved by the gates as they are now. A promotion brings this tree
 * and no other, so the verdicts about the landings on the way do not matter. If no result of the tree is stored, the
 * landings speak for it.
 */
export async function doubtsAbout(
  tx: Tx,
  { settings, ids }: GateTerms,
  landing: string,
  { gatedFirst = false }: { readonly gatedFirst?: boolean } = {},
): Promise<readonly string[]> {
  const { last } = await leftTips(tx, landing);
  const ops = await tx.mergeOps.list({ status: "done", ref: `refs/heads/${landing}`, limit: 200 });
  const tip = ops.find(({ afterCommit, request }) => afterCommit === last && request.tree !== undefined);
  const { tree = "", gaps: then = [] } = tip?.request ?? {};
  if (tree === "") return doubtsOfLandings(tx, landing);
  const gates = settings.project.qualityGates;
  const results: GateResult[] = [];
  for (const gate of gates) {
    // How files look now is not known here; a promotion gates the tip again where that has changed.
    const [latest] = await tx.gates.onAnyForm(tree, termsHash(gate, settings.merge, ids.digest));
    if (latest !== undefined) results.push({ ...latest, gate: gate.name });
  }
  // A promotion runs every gate that has no result yet, and stops when one fails.
  const isAsked = ({ name, paths }: Gate): boolean =>
    !gatedFirst || paths.length > 0 || results.some(({ gate }) => gate === name);
  const known = gates.filter(isAsked);
  if (known.length === 0 && gates.length > 0) return [];
  const { verdict, gaps } = verdictOf({ gates: known, results, cache: settings.merge.cache });
  const excused = known.map(({ name }) => failsAsBefore(name)).filter((gap) => then.includes(gap));
  return verdict === "unverified" ? [...new Set([...gaps, ...excused])] : [];
}

async function doubtsOfLandings(tx: Tx, landing: string): Promise<readonly string[]> {
  const doubts = new Set<string>();
  for (const { id, verdict } of await landingsSincePromotion(tx, landing)) {
    if (verdict !== "unverified") continue;
    const gaps = (await tx.receipts.about(mergeRef(id))).flatMap((receipt) => receipt.gaps);
    for (const doubt of gaps.length === 0 ? ["no gate has checked it"] : gaps) doubts.add(doubt);
  }
  return [...doubts];
}
