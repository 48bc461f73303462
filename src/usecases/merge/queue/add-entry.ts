import { isIn } from "../../../domain/agent/capability.ts";
import { fillPayload, payloadFields } from "../../../domain/mail/payload.ts";
import type { Asker, MergeEntry } from "../../../domain/merge/entry.ts";
import { invalid, notFound, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { fields, flag, list, type SchemaOf, text, whole } from "../../../domain/schema/schema.ts";
import type { Tx } from "../../../ports/store.ts";
import type { Context, UseCase } from "../../usecase.ts";
import { askerFor, completionReceipt, forbiddenToQueue, ownerOfBranch, ownerWithoutCommits } from "../branch-owner.ts";
import { targetOf } from "../landing/landing-target.ts";
import { findEntry, replacedBy } from "../merge-records.ts";
import { enqueueBranch, freshEntry, type NewMerge, whyLanded } from "./enqueue.ts";

export interface AddMergeRequest {
  readonly branch: string;
  /** The caller looks it up, because it has git at hand. */
  readonly headCommit: string;
  readonly filesModified?: readonly string[] | undefined;
  /** Default: where its run lands. */
  readonly targetBranch?: string | undefined;
  readonly taskId?: string | undefined;
  readonly priority?: number | undefined;
  /** Numbers or branches of entries that must land first. */
  readonly dependsOn?: readonly string[] | undefined;
  /** The operator's word that it may land. */
  readonly approve?: boolean | undefined;
  /** The entry whose work it has: refused where the branch was queued anew since. */
  readonly insteadOf?: number | undefined;
}

const addFields: SchemaOf<AddMergeRequest> = fields(
  { branch: text, headCommit: text },
  {
    filesModified: list(text),
    targetBranch: text,
    taskId: text,
    priority: whole,
    dependsOn: list(text),
    approve: flag,
    insteadOf: whole,
  },
);

export interface AddMergeReply {
  readonly entry: MergeEntry;
  /** False: the same commit had its place already. */
  readonly added: boolean;
}

/** Puts a branch into the queue by hand. An agent does so only for those it answers for. */
export const addMerge: UseCase<AddMergeRequest, AddMergeReply> = {
  kind: "write",
  request: addFields,
  prepare: async (_files, terms, request) => {
    const caller = await terms.caller();
    if (!caller.ok || caller.value.kind !== "agent") return caller.ok ? ok(request) : caller;
    // Git says which commit an agent's branch has, and the merge worker which files it changes. The caller may say anything.
    const { filesModified: _, ...rest } = request;
    const tip = await terms.tipOf?.(request.branch);
    return tip === null ? no(notFound("branch", request.branch)) : ok({ ...rest, headCommit: tip ?? rest.headCommit });
  },
  run: async (tx, context, request) => {
    const { branch, headCommit, priority } = request;
    if (branch.trim() === "") return no(invalid("branch", "must not be empty"));
    if (headCommit.trim() === "") return no(invalid("branch", "has no commit", { value: branch }));
    const wrong = wrongPriority(priority);
    if (wrong !== undefined) return no(wrong);
    const refused = await forbiddenToQueue(tx, context.caller, branch, "queue");
    if (refused !== undefined) return no(refused);
    const owner = await ownerOfBranch(tx, branch);
    if (context.caller.kind === "agent" && owner !== undefined && isIn("readOnly", owner.capability)) {
      const why = `is the branch of ${owner.name}, a ${owner.capability}, and holds no work of its own`;
      return no(invalid("branch", why, { value: branch }));
    }
    const elsewhere = await refuseElsewhere(tx, context, request, owner?.runId ?? null);
    if (elsewhere !== undefined) return no(elsewhere);
    const empty = await refuseWithoutCommits(tx, request);
    if (empty !== undefined) return no(empty);
    const asked = await newMergeOf(tx, context, request);
    if (!asked.ok) return asked;
    const { insteadOf: id } = request;
    const replaced = id === undefined ? undefined : await replacedBy(tx, { ...asked.value, id });
    if (replaced !== undefined) return no(replaced);
    // An agent hears of each landing, and would have the same commit land again and again. An entry of the operator would
    // wait for an approval of nothing, and keep its run open. An entry that comes with its approval ends at once.
    const landed = request.approve === true ? undefined : await whyLanded(tx, asked.value);
    if (landed !== undefined) return no(invalid("branch", landed, { value: branch }));
    return ok(await enqueueBranch(tx, context, asked.value));
  },
};

/** Which branches of the project move is the operator's to say: an agent's work lands where its run does. */
async function refuseElsewhere(
  tx: Tx,
  context: Context,
  { branch, targetBranch }: AddMergeRequest,
  runId: string | null,
): Promise<Refusal | undefined> {
  const { caller } = context;
  if (caller.kind !== "agent" || targetBranch === undefined) return undefined;
  const landing = await targetOf(tx, context, runId);
  if (targetBranch === landing) return undefined;
  const why = `its run lands on ${landing}; only the operator queues a branch for another one`;
  return { kind: "not-allowed", action: `queue ${branch} for ${targetBranch}`, caller: caller.name, why };
}

export function wrongPriority(priority: number | undefined): Refusal | undefined {
  if (priority === undefined || (Number.isInteger(priority) && priority >= 0 && priority <= 4)) return undefined;
  return invalid("priority", "must be a whole number from 0 to 4", { value: String(priority) });
}

/** Refuses a branch that is still at the commit where its agent began: it brings nothing to the target. */
export async function refuseWithoutCommits(
  tx: Tx,
  { branch, headCommit }: Pick<AddMergeRequest, "branch" | "headCommit">,
): Promise<Refusal | undefined> {
  const idle = await ownerWithoutCommits(tx, branch, headCommit);
  return idle === undefined ? undefined : { kind: "no-own-commits", agent: idle.name, branch };
}

/** What a person or an agent asks for, with all that the project knows about the branch. */
export async function newMergeOf(
  tx: Tx,
  context: Context,
  request: AddMergeRequest,
): Promise<Result<NewMerge, Refusal>> {
  const { branch, headCommit } = request;
  const { caller } = context;
  const after = await entriesBefore(tx, request);
  if (!after.ok) return after;
  const owner = await ownerOfBranch(tx, branch);
  const runId = owner?.runId ?? (await tx.runs.current())?.id ?? null;
  const named = namedIn(branch);
  return ok({
    branch,
    headCommit,
    targetBranch: request.targetBranch ?? (await targetOf(tx, context, runId)),
    taskId: owner === undefined ? (request.taskId ?? named.taskId) : owner.taskId,
    agentName: owner?.name ?? named.agentName,
    runId,
    filesModified: request.filesModified ?? [],
    priority: request.priority,
    after: after.value,
    source: "cli",
    enqueuedBy: caller.name,
    asker: await askerOf(),
    waiter: caller.kind === "agent" ? caller.name : null,
  });

  async function askerOf(): Promise<Asker> {
    if (caller.kind === "agent") return askerFor(tx, owner, caller.name);
    return request.approve === true ? "operator" : "other";
  }
}

/** The entries a person named as those to land first; not such that wait for this branch themselves. */
export async function entriesBefore(
  tx: Tx,
  { branch, dependsOn = [] }: Pick<AddMergeRequest, "branch" | "dependsOn">,
): Promise<Result<readonly number[], Refusal>> {
  const ids: number[] = [];
  for (const of of dependsOn) {
    const found = await findEntry(tx, of);
    if (!found.ok) return found;
    if (await waitsFor(tx, found.value, branch))
      return no(invalid("depends-on", `waits for ${branch} itself`, { value: of }));
    ids.push(found.value.id);
  }
  return ok(ids);
}

async function waitsFor(tx: Tx, entry: MergeEntry, branch: string): Promise<boolean> {
  const seen = new Set<number>();
  const rest: MergeEntry[] = [entry];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (next.branch === branch) return true;
    if (seen.has(next.id)) continue;
    seen.add(next.id);
    for (const id of next.dependsOn) {
      const before = await tx.merges.get(id);
      if (before !== undefined && before.status !== "merged") rest.push(before);
    }
  }
  return false;
}

/** The name of an agent's branch says whose it is and for what. */
function namedIn(branch: string): { readonly agentName: string | null; readonly taskId: string | null } {
  const { agentName, taskId } = payloadFields(fillPayload("merge_ready", JSON.stringify({ branch }), {}));
  return {
    agentName: typeof agentName === "string" ? agentName : null,
    taskId: typeof taskId === "string" ? taskId : null,
  };
}

/** An entry; without a number while it has no place in the queue. */
export type MergePreview = Omit<MergeEntry, "id"> & { readonly id: number | null };

/** What the queue would hold after this branch was added to it. Adds nothing. */
export const previewMerge: UseCase<AddMergeRequest, { readonly entry: MergePreview }> = {
  kind: "read",
  request: addFields,
  run: async (tx, context, request) => {
    // For an agent, the right to queue the branch is checked first, when it queues it.
    const empty = context.caller.kind === "agent" ? undefined : await refuseWithoutCommits(tx, request);
    if (empty !== undefined) return no(empty);
    const asked = await newMergeOf(tx, context, request);
    if (!asked.ok) return asked;
    const { branch, headCommit, targetBranch } = asked.value;
    const open = await tx.merges.openOf(branch, targetBranch);
    const entry =
      open?.headCommit === headCommit ? open : { ...(await freshEntry(tx, context, asked.value)), id: null };
    // Nothing has landed yet, but its agent may have proved exactly this commit.
    const owner = await ownerOfBranch(tx, branch);
    const proved = owner === undefined ? undefined : await completionReceipt(tx, owner, headCommit);
    return ok({ entry: { ...entry, verdict: entry.verdict ?? proved?.verdict ?? null } });
  },
};
