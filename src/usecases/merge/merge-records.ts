import type { EventFact } from "../../domain/event/event.ts";
import type { MergeFacts } from "../../domain/event/event-kinds.ts";
import { isOpenMerge, type MergeEntry, type MergeStatus } from "../../domain/merge/entry.ts";
import type { MergeOp } from "../../domain/merge/operation.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import type { Effect, World } from "../operation.ts";
import type { Context } from "../usecase.ts";
import type { MergeDetail } from "./read-merges.ts";

/** The entry of this number or branch: of a branch the open entry, else the latest. */
export async function findEntry(tx: Tx, of: string): Promise<Result<MergeEntry, Refusal>> {
  const typed = of.trim().replace(/^#/, "");
  if (/^\d{1,15}$/.test(typed)) {
    const entry = await tx.merges.get(Number(typed));
    if (entry !== undefined) return ok(entry);
  }
  const entries = await tx.merges.list({ branch: typed });
  const entry = entries.findLast(isOpenMerge) ?? entries.at(-1);
  if (entry !== undefined) return ok(entry);
  const known = (await tx.merges.list({ limit: suggestable })).map(({ branch }) => branch);
  const near = nearest(typed, known);
  return no(notFound("merge entry", of, near));
}

/** An effect about one entry of the queue, which its number or its branch names. */
export type EntryEffect<Reply> = Effect<{ readonly of: string }, Reply>;

export function ofEntry<Reply>(
  run: (world: World, found: MergeDetail, of: string) => Promise<Result<Reply, Refusal>>,
): EntryEffect<Reply> {
  return {
    kind: "effect",
    request: fields({ of: text }),
    place: "engine",
    run: async (world, { of }) => {
      const found = await world.call("merge.readEntry", { of });
      return found.ok ? run(world, found.value, of) : found;
    },
  };
}

/** Why nothing can be done to an entry whose branch has another place in the queue by now. */
export async function replacedBy(
  tx: Tx,
  { id, branch, targetBranch }: Pick<MergeEntry, "id" | "branch" | "targetBranch">,
): Promise<Refusal | undefined> {
  const open = await tx.merges.openOf(branch, targetBranch);
  if (open === undefined || open.id === id) return undefined;
  return { kind: "merge-queued", entry: id, branch, instead: open.id };
}

/** Why nothing can be done to it, unless it has one of these statuses. */
export function wrongStatus(entry: MergeEntry, wanted: readonly MergeStatus[]): Refusal | undefined {
  const { id, branch, status } = entry;
  if (wanted.includes(status)) return undefined;
  return { kind: "merge-status", entry: id, branch, status, wanted };
}

/** A landing that may already be visible cannot be decided about any more; a moment later it is known. */
export async function isLanding(tx: Tx, { id }: MergeEntry): Promise<boolean> {
  const landings = await tx.mergeOps.list({ kind: "land", status: "intended", queueId: id, limit: 1 });
  return landings.length > 0;
}

export const landingBusy = ({ branch }: MergeEntry): Refusal => ({ kind: "busy", what: `the landing of ${branch}` });

const suggestable = 200;

/** Puts on record what became of an entry, in the name of the caller and about the agent whose branch it is. */
export async function recordMerge(
  tx: Tx,
  { caller, now }: Pick<Context, "caller" | "now">,
  entry: MergeEntry,
  describe: (facts: MergeFacts) => EventFact,
): Promise<void> {
  const { id: queueId, branch, targetBranch, taskId, headCommit, approval, runId, agentName } = entry;
  const facts = { queueId, branch, targetBranch, taskId, headCommit, approval, by: caller.name };
  await record(tx, now, { source: caller.kind, runId, agentName, ...describe(facts) });
}

/** Records an operation on a ref before the ref moves. */
export async function newOp(
  tx: Tx,
  { caller, ids, now }: Pick<Context, "caller" | "ids" | "now">,
  about: Pick<MergeOp, "kind" | "ref" | "queueIds"> &
    Partial<Pick<MergeOp, "beforeCommit" | "afterCommit" | "undoes" | "request">>,
): Promise<MergeOp> {
  const id = ids.next("op");
  const op: Omit<MergeOp, "seq"> = {
    beforeCommit: null,
    afterCommit: null,
    undoes: null,
    request: {},
    ...about,
    id,
    actor: caller.name,
    status: "intended",
    undoneBy: null,
    problem: null,
    createdAt: now,
    updatedAt: now,
  };
  await tx.mergeOps.insert(op);
  const stored = await tx.mergeOps.get(id);
  if (stored === undefined) throw new Error(`operation ${id} was not stored`);
  return stored;
}
