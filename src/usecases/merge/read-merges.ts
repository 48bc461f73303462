import type { GateResult, Receipt } from "../../domain/gate/gate.ts";
import { type GateSubject, gateSubject, type MergeAttempt, outcomeFor } from "../../domain/merge/attempt.ts";
import { bringsTarget, type MergeEntry, mergeRef, mergeStatuses, openMergeStatuses } from "../../domain/merge/entry.ts";
import type { MergeOp } from "../../domain/merge/operation.ts";
import type { Promotion } from "../../domain/merge/words.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { type InvalidInput, invalid, notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, flag, list, text, whole } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context, UseCase } from "../usecase.ts";
import { withVerdict, withVerdicts } from "./branch-owner.ts";
import { promotionOf, purposeOf } from "./landing/landing-target.ts";
import { type EntryEffect, findEntry, ofEntry } from "./merge-records.ts";
import { type QueueOrder, queueOrder, unsettledOf } from "./queue/queue-state.ts";
import { type Standing, standingOf } from "./standing.ts";

export interface QueuedMerge {
  readonly entry: MergeEntry;
  /** Entries it depends on that have not landed. */
  readonly waitsFor: readonly number[];
  /** Its place among those that could land now, from 1; null when it cannot. */
  readonly place: number | null;
  /** It could land, and does not: the queue is paused. */
  readonly isHeld: boolean;
}

export interface ListMergesRequest {
  /** Default: open entries. */
  readonly status?: string | undefined;
  readonly runId?: string | undefined;
  readonly branch?: string | undefined;
  /** Ended ones too. */
  readonly all?: boolean | undefined;
  readonly limit?: number | undefined;
}

/** The queue in the order of its numbers. */
export const listMerges: UseCase<ListMergesRequest, { readonly entries: readonly QueuedMerge[] }> = {
  kind: "read",
  request: fields({}, { status: text, runId: text, branch: text, all: flag, limit: whole }),
  run: async (tx, context, { status, runId, branch, all, limit }) => {
    const known = mergeStatuses.find((each) => each === status);
    if (status !== undefined && known === undefined) return no(unknownStatus(status));
    const statuses = known === undefined ? (all === true ? mergeStatuses : openMergeStatuses) : [known];
    const entries = await tx.merges.list({
      statuses,
      ...(runId === undefined ? {} : { runId }),
      ...(branch === undefined ? {} : { branch }),
      ...(limit === undefined ? {} : { limit }),
    });
    return ok({ entries: await queuedMerges(tx, entries, await queueOrder(tx, context)) });
  },
};

export interface MergeDetail extends QueuedMerge {
  /** With the outcome that each had for this entry. */
  readonly attempts: readonly Omit<MergeAttempt, "members">[];
  readonly gates: readonly (GateResult & { readonly on: GateSubject | null })[];
  readonly receipts: readonly Receipt[];
  readonly operations: readonly MergeOp[];
  /** The undos among them that take back an undo. */
  readonly bringBack: readonly string[];
  /** The branch it is promoted to later; null where it lands there directly. */
  readonly meantFor: string | null;
  /** What `ov merge promote` must name to bring it there. */
  readonly promotion: Promotion;
  readonly standing: Standing;
}

/** Everything that is on record about one entry. */
export const showMerge: UseCase<{ readonly of: string }, MergeDetail> = {
  kind: "read",
  request: fields({ of: text }),
  run: async (tx, context, { of }) => {
    const found = await findEntry(tx, of);
    return found.ok ? ok(await detailOf(tx, context, found.value)) : found;
  },
};

/**
 * Everything that is known about one entry. The files of an entry that waits are on record once the engine has looked at
 * it; until then git names them.
 */
export const showWithFiles: EntryEffect<MergeDetail> = ofEntry<MergeDetail>(async (world, found) => {
  const { status, filesModified, targetBranch: target, branch, headCommit: commit } = found.entry;
  if (status !== "pending" || filesModified.length > 0 || commit === "") return ok(found);
  const changed = await world.call("branch.listChanges", { target, branch, commit });
  return ok(changed.ok ? { ...found, entry: { ...found.entry, filesModified: changed.value.files } } : found);
});

async function detailOf(tx: Tx, context: Context, entry: MergeEntry): Promise<MergeDetail> {
  const attempts = await tx.mergeAttempts.of(entry.id);
  const operations = await tx.mergeOps.list({ queueId: entry.id });
  const results = await tx.gates.all([...new Set(attempts.flatMap(({ gateResults }) => gateResults))]);
  const queued = await queuedMerge(tx, entry, await queueOrder(tx, context));
  return {
    ...queued,
    attempts: attempts.map(({ members, ...attempt }) => ({
      ...attempt,
      outcome: outcomeFor(entry, { ...attempt, members }, operations),
    })),
    gates: results.map((result) => ({ ...result, on: gateSubject(entry.id, result, attempts, operations) })),
    receipts: await tx.receipts.about(mergeRef(entry.id)),
    operations,
    bringBack: await undosOfUndos(tx, operations),
    ...(await aimOf(tx, context, entry.targetBranch)),
    standing: standingOf(queued, await openMerges(tx, context)),
  };
}

/** Where what lands on a branch is meant to go, and how it gets there. */
async function aimOf(tx: Tx, context: Context, branch: string): Promise<Pick<MergeDetail, "meantFor" | "promotion">> {
  const purpose = await purposeOf(tx, context, branch);
  return { meantFor: purpose?.target ?? null, promotion: await promotionOf(tx, purpose) };
}

/** What became of an entry, for a caller that waited for it. */
export interface MergeOutcome extends Pick<MergeDetail, "entry" | "meantFor" | "promotion"> {
  /** The operation that landed it is on record. There is none where its target had everything of it already. */
  readonly hasLanding: boolean;
  /** What its landing left unproved; empty while it has not landed. */
  readonly gaps: readonly string[];
}

/** What became of many entries, in the order of their numbers here; a number that is none has no outcome. */
export const showOutcomes: UseCase<{ readonly ids: readonly number[] }, { readonly merges: readonly MergeOutcome[] }> =
  {
    kind: "read",
    request: fields({ ids: list(whole) }),
    run: async (tx, context, { ids }) => {
      const entries = new Map(
        (await withVerdicts(tx, await tx.merges.list({ ids }))).map((entry) => [entry.id, entry]),
      );
      const aims = new Map<string, Awaited<ReturnType<typeof aimOf>>>();
      // Those that landed together share their operation, so it is read for the first of them alone.
      const landed = new Set<number>();
      const merges: MergeOutcome[] = [];
      for (const id of ids) {
        const entry = entries.get(id);
        if (entry === undefined) continue;
        const { targetBranch, status } = entry;
        const aim = aims.get(targetBranch) ?? (await aimOf(tx, context, targetBranch));
        aims.set(targetBranch, aim);
        const isMerged = status === "merged";
        if (isMerged && !landed.has(id))
          for (const { queueIds } of await tx.mergeOps.list({ kind: "land", status: "done", queueId: id }))
            for (const together of queueIds) landed.add(together);
        const [receipt] = isMerged ? await tx.receipts.about(mergeRef(id)) : [];
        merges.push({ entry, ...aim, hasLanding: landed.has(id), gaps: receipt?.gaps ?? [] });
      }
      return ok({ merges });
    },
  };

/** One operation, for callers that wait for its end. */
export const showOperation: UseCase<{ readonly id: string }, { readonly operation: MergeOp }> = {
  kind: "read",
  request: fields({ id: text }),
  run: async (tx, _context, { id }) => {
    const operation = await tx.mergeOps.get(id);
    return operation === undefined ? no(notFound("merge operation", id)) : ok({ operation });
  },
};

export interface MergeLogRequest {
  readonly limit?: number | undefined;
  /** With promotions that found nothing to move. */
  readonly empty?: boolean | undefined;
  /** Operations older than the one with this number, or the next ones newer than it. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

/** A promotion of nothing is not one, and that a landing branch begins somewhere is only for us to know. */
const movedNothing = ({ kind, status, beforeCommit, afterCommit }: MergeOp): boolean =>
  kind === "begin" || (kind === "promote" && status === "done" && beforeCommit === afterCommit);

/** Landings, undos and promotions, newest first. */
export const mergeLog: UseCase<
  MergeLogRequest,
  {
    readonly operations: readonly MergeOp[];
    readonly entries: readonly MergeEntry[];
    /** The undos among them that take back an undo, so that what it took out is there again. */
    readonly bringBack: readonly string[];
    /** Older operations fit too: the `before` that brings them. Null when there are none. */
    readonly older: number | null;
  }
> = {
  kind: "read",
  request: fields({}, { limit: whole, empty: flag, before: whole, after: whole }),
  run: async (tx, _context, { limit = 50, empty = false, before, after }) => {
    const isFirst = before === undefined && after === undefined;
    const page = async (most?: number): Promise<readonly MergeOp[]> => {
      const latest = inOrder(await tx.mergeOps.list(most === undefined ? {} : { limit: most }));
      return empty ? latest : latest.filter((op) => !movedNothing(op));
    };
    // Few operations move nothing. Where the newest are not enough for a page, and for later pages, all are read.
    const newest = isFirst ? await page(empty ? limit + 1 : 4 * limit) : [];
    const shown = newest.length > limit ? newest : await page();
    // A place is that of an operation in this order, which is not that of the numbers.
    const placeOf = (seq: number | undefined): number => shown.findIndex((op) => op.seq === seq);
    const newer = after === undefined ? undefined : Math.max(0, placeOf(after));
    const from = newer === undefined ? placeOf(before) + 1 : Math.max(0, newer - limit);
    const operations = shown.slice(from, newer ?? from + limit);
    const older = from + operations.length < shown.length ? (operations.at(-1)?.seq ?? null) : null;
    const entries: MergeEntry[] = [];
    for (const id of new Set(operations.flatMap(({ queueIds }) => queueIds))) {
      const entry = await tx.merges.get(id);
      if (entry !== undefined) entries.push(entry);
    }
    return ok({ operations, entries, bringBack: await undosOfUndos(tx, operations), older });
  },
};

async function undosOfUndos(tx: Tx, operations: readonly MergeOp[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const op of operations) if (await bringsBack(tx, op)) found.push(op.id);
  return found;
}

async function bringsBack(tx: Tx, { undoes }: MergeOp): Promise<boolean> {
  const undone = undoes === null ? undefined : await tx.mergeOps.get(undoes);
  return undone?.kind === "undo" && !(await bringsBack(tx, undone));
}

/**
 * Newest first, by what happened. A promotion is on record from the moment it is asked for, but it may first land the
 * target's own commits; it comes after the landing that made the commit it moved to.
 */
function inOrder(operations: readonly MergeOp[]): readonly MergeOp[] {
  const landings = operations.filter(({ kind, status }) => kind === "land" && status === "done");
  const placeOf = ({ kind, seq, afterCommit }: MergeOp): number => {
    const needed = kind === "promote" ? landings.find((op) => op.afterCommit === afterCommit) : undefined;
    return Math.max(seq, needed === undefined ? 0 : needed.seq + 0.5);
  };
  return operations.toSorted((one, other) => placeOf(other) - placeOf(one));
}

/** All open entries by their number. */
export async function openMerges(tx: Tx, context: Context): Promise<ReadonlyMap<number, QueuedMerge>> {
  const order = await queueOrder(tx, context);
  const open = await queuedMerges(tx, await tx.merges.list({ statuses: openMergeStatuses }), order);
  return new Map(open.map((merge) => [merge.entry.id, merge]));
}

export const queuedMerge = async (tx: Tx, entry: MergeEntry, order: QueueOrder): Promise<QueuedMerge> =>
  inQueue(tx, await withVerdict(tx, entry), order);

async function queuedMerges(tx: Tx, entries: readonly MergeEntry[], order: QueueOrder): Promise<QueuedMerge[]> {
  const queued: QueuedMerge[] = [];
  for (const entry of await withVerdicts(tx, entries)) queued.push(await inQueue(tx, entry, order));
  return queued;
}

async function inQueue(tx: Tx, entry: MergeEntry, { ids, isPaused }: QueueOrder): Promise<QueuedMerge> {
  const waitsFor = (await unsettledOf(tx, entry.dependsOn)).map(({ id }) => id);
  const place = ids.indexOf(entry.id);
  const isHeld = isPaused && place >= 0 && !bringsTarget(entry);
  return { entry, waitsFor, place: place < 0 ? null : place + 1, isHeld };
}

function unknownStatus(status: string): InvalidInput {
  const near = nearest(status, mergeStatuses);
  const extra = { value: status, allowed: mergeStatuses, ...(near === undefined ? {} : { nearest: near }) };
  return invalid("status", "is not a status of a merge", extra);
}
