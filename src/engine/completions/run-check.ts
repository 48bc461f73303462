import type { StoredCheck, TrialGate } from "../../domain/completion/check.ts";
import { defaultTimeoutMs, type Gate, type Receipt } from "../../domain/gate/gate.ts";
import { lacking } from "../../usecases/completions/accept.ts";
import { worktreeOf } from "../../usecases/worktrees/owners.ts";
import type { CheckTools, CompletionPorts } from "./ports.ts";
import { prove } from "./prove.ts";

/** Runs the gates on what was named and writes down what they prove. Throws `lacking` when one does not pass. */
export async function runCheck(ports: CompletionPorts, tools: CheckTools, check: StoredCheck): Promise<void> {
  const { store, clock, ids, rules } = ports;
  const { commit, baseCommit } = await commitOf(ports, check);
  const trial = check.request.kind === "check" ? check.request.trial : undefined;
  const gates = [...rules.project.qualityGates, ...(trial ?? []).map(triedGate)];
  const terms = { check, commit, baseCommit, gates, useCache: true, askAll: trial !== undefined };
  const { tree, verdict, gaps, results, failures } = await prove(ports, tools, terms);
  const receipt: Receipt = {
    id: ids.next("receipt"),
    kind: "check",
    subject: check.refName,
    baseCommit,
    headCommit: commit,
    tree,
    verdict,
    results: results.map(({ id }) => id),
    gaps,
    createdAt: clock.now(),
  };
  ports.reach("done.after-check");
  await store.transaction(async (tx) => {
    const answered = await tx.checks.change(check.id, ["running"], {
      status: failures.length === 0 ? "done" : "failed",
      commitId: commit,
      verdict,
      receiptId: receipt.id,
      problem: failures,
      progress: null,
      updatedAt: clock.now(),
    });
    if (answered) await tx.receipts.add(receipt);
  });
}

/** The gate with the defaults of the configuration. */
const triedGate = ({ name, command }: TrialGate): Gate => ({
  name,
  command,
  timeoutMs: defaultTimeoutMs,
  required: true,
  paths: [],
});

async function commitOf(
  ports: CompletionPorts,
  { agentId, refName }: StoredCheck,
): Promise<{ readonly commit: string; readonly baseCommit: string | null }> {
  const agent = agentId === null ? undefined : await ports.store.read((tx) => tx.agents.get(agentId));
  const worktree = agent === undefined ? undefined : worktreeOf(agent);
  if (worktree !== undefined && agent?.cleanedAt === null) await ports.worktrees.collect(worktree);
  const commit = await ports.merging.commitOf(refName);
  if (commit !== undefined) return { commit, baseCommit: agent?.baseCommit ?? null };
  const message = `${refName} is no commit of this project`;
  throw lacking([{ kind: "ref", message, fix: "name a branch, a commit or an agent: ov gate run <ref>" }]);
}
