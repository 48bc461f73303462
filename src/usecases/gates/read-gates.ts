import type { Agent } from "../../domain/agent/agent.ts";
import type { GateResult, Receipt } from "../../domain/gate/gate.ts";
import { mergeRef } from "../../domain/merge/entry.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text, whole } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import { ownerOfBranch } from "../merge/branch-owner.ts";
import { findEntry } from "../merge/merge-records.ts";
import type { UseCase } from "../usecase.ts";

/** What gates found lately, newest first. */
export const listGateResults: UseCase<
  { readonly gate?: string | undefined; readonly limit?: number | undefined },
  { readonly results: readonly GateResult[] }
> = {
  kind: "read",
  request: fields({}, { gate: text, limit: whole }),
  run: async (tx, _context, { gate, limit }) => ok({ results: await tx.gates.recent(limit ?? 20, gate) }),
};

/** One result, which tells where its whole output is. */
export const showGateResult: UseCase<{ readonly id: string }, { readonly result: GateResult; readonly path: string }> =
  {
    kind: "read",
    request: fields({ id: text }),
    run: async (tx, _context, { id }) => {
      const result = await tx.gates.get(id);
      return result === undefined ? no(notFound("gate result", id)) : ok({ result, path: result.logPath });
    },
  };

export interface ReceiptReply {
  readonly receipt: Receipt;
  /** The results it rests on. */
  readonly results: readonly GateResult[];
}

/** The evidence for a completion or a landing: by its own id, or the newest about an entry, an agent or a ref. */
export const showReceipt: UseCase<{ readonly of: string }, ReceiptReply> = {
  kind: "read",
  request: fields({ of: text }),
  run: async (tx, _context, { of }) => {
    const receipt = (await tx.receipts.get(of)) ?? (await newestAbout(tx, of));
    if (receipt === undefined) return no(notFound("receipt", of));
    return ok({ receipt, results: await tx.gates.all(receipt.results) });
  },
};

/** What landed, else what its agent reported: by the name of either, a branch, or a place in the queue. */
async function newestAbout(tx: Tx, of: string): Promise<Receipt | undefined> {
  const entry = await findEntry(tx, of);
  const named = await newestOf(tx, entry.ok ? [of, mergeRef(entry.value.id)] : [of]);
  if (named !== undefined) return named;
  const agent = (await tx.agents.byName(of)) ?? (await ownerOfBranch(tx, of));
  return agent === undefined ? newestLandingOn(tx, of) : newestOf(tx, await subjectsOf(tx, agent));
}

/** What landed on a branch last, where nothing was taken back since: the gates ran on exactly what it held then. */
async function newestLandingOn(tx: Tx, branch: string): Promise<Receipt | undefined> {
  const [last] = await tx.mergeOps.list({ ref: `refs/heads/${branch}`, status: "done", limit: 1 });
  return last?.kind === "land" ? newestOf(tx, last.queueIds.map(mergeRef)) : undefined;
}

async function newestOf(tx: Tx, subjects: readonly string[]): Promise<Receipt | undefined> {
  const found: Receipt[] = [];
  for (const subject of subjects) found.push(...(await tx.receipts.about(subject)));
  return found.toSorted((a, b) => b.createdAt - a.createdAt)[0];
}

/** How receipts name the work of an agent: its completions by incarnation, its landings by their place in the queue. */
async function subjectsOf(tx: Tx, { name, generation, branch }: Agent): Promise<readonly string[]> {
  const entries = branch === null ? [] : await tx.merges.list({ branch });
  const completions = Array.from({ length: generation }, (_, before) => `${name}#${generation - before}`);
  return [...completions, ...entries.map(({ id }) => mergeRef(id)), ...(branch === null ? [] : [branch])];
}
