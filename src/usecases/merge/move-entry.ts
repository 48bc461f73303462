import { strongerApproval } from "../../domain/merge/approval.ts";
import type { MergeEntry } from "../../domain/merge/entry.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";
import { endApprovalWait } from "./approval-wait.ts";
import { redirectDependents } from "./dependencies.ts";
import { supersede, waitFor } from "./enqueue.ts";

/**
 * Lets an entry that nobody works on land on another branch. Where its branch has a place there already, the newer of
 * the two takes it, with every approval that either has. Undefined when this is the older one.
 */
export async function moveEntry(
  tx: Tx,
  context: Context,
  entry: MergeEntry,
  targetBranch: string,
): Promise<MergeEntry | undefined> {
  const there = await tx.merges.openOf(entry.branch, targetBranch);
  if (there === undefined) {
    const change = { targetBranch, updatedAt: context.now };
    return (await tx.merges.change(entry.id, idle, change)) ? { ...entry, ...change } : undefined;
  }
  const [older, newer] = there.id < entry.id ? [there, entry] : [entry, there];
  const waiters = await supersede(tx, context, older);
  const approval = strongerApproval(newer.approval, older.approval);
  const moved = { ...newer, approval, targetBranch, updatedAt: context.now };
  await tx.merges.change(newer.id, idle, { approval, targetBranch, updatedAt: context.now });
  if (approval !== "waiting") await endApprovalWait(tx, newer, context.now);
  await redirectDependents(tx, moved, context.now);
  for (const agentName of waiters) await waitFor(tx, agentName, moved, context.now);
  return newer === entry ? moved : undefined;
}

const idle = ["pending", "blocked"] as const;
