import type { Missing, StoredCheck } from "../../domain/completion/check.ts";
import { defaultTimeoutMs, type Gate, type GateResult, type Receipt } from "../../domain/gate/gate.ts";
import type { Settings } from "../../ports/settings.ts";
import { lacking } from "../../usecases/completions/accept.ts";
import type { CheckTools, CompletionPorts } from "./ports.ts";
import { prove } from "./prove.ts";

/** Runs what a receipt rests on again, on its commit and without believing earlier results, and compares. */
export async function verify(ports: CompletionPorts, tools: CheckTools, check: StoredCheck): Promise<void> {
  if (check.request.kind !== "verify") return;
  const { store, clock, rules } = ports;
  const { receiptId } = check.request;
  const found = await store.read(async (tx) => {
    const receipt = await tx.receipts.get(receiptId);
    return receipt === undefined ? undefined : { receipt, results: await tx.gates.all(receipt.results) };
  });
  if (found === undefined) throw lacking([gone(`the receipt ${receiptId}`)]);
  const { receipt, results: recorded } = found;
  const { headCommit: commit, baseCommit } = receipt;
  await mustBeThere(ports, receipt);
  const gates = recorded.map((result) => gateOf(result, rules));
  const { results } = await prove(ports, tools, { check, commit, baseCommit, gates, useCache: false });
  const problem = differences(recorded, results);
  ports.reach("done.after-check");
  await store.transaction((tx) =>
    tx.checks.change(check.id, ["running"], {
      status: problem.length === 0 ? "done" : "failed",
      commitId: commit,
      verdict: problem.length === 0 ? "reproduced" : "differs",
      receiptId,
      problem,
      progress: null,
      updatedAt: clock.now(),
    }),
  );
}

async function mustBeThere({ merging }: CompletionPorts, { headCommit, tree }: Receipt): Promise<void> {
  if ((await merging.commitOf(headCommit)) === undefined) throw lacking([gone(`the commit ${headCommit}`)]);
  if ((await merging.treeOf(headCommit)) === tree) return;
  const message = `the commit ${headCommit} does not have the tree ${tree} that is on record`;
  throw lacking([{ kind: "differs", message, fix: "the receipt cannot be trusted: run the gates anew: ov gate run" }]);
}

const gone = (what: string): Missing => ({
  kind: "ref",
  message: `${what} is not there any more`,
  fix: "it cannot be run again; run the gates on what there is: ov gate run <ref>",
});

/** The gate as it was. None stops the others: each outcome is compared. */
function gateOf({ gate, command }: GateResult, { project }: Settings): Gate {
  const known = project.qualityGates.find(({ name }) => name === gate);
  return { name: gate, command, timeoutMs: known?.timeoutMs ?? defaultTimeoutMs, required: false, paths: [] };
}

function differences(recorded: readonly GateResult[], results: readonly GateResult[]): readonly Missing[] {
  return recorded.flatMap((before): Missing[] => {
    const now = results.find(({ gate }) => gate === before.gate);
    if (now !== undefined && now.status === before.status && now.exitCode === before.exitCode) return [];
    const { gate } = before;
    const message = `the gate ${gate} is on record as ${outcome(before)}, and was now ${now === undefined ? "not run" : outcome(now)}`;
    const fix = "look at both outputs: ov gate log";
    return [{ kind: "differs", message, fix, gate, ...(now === undefined ? {} : { logPath: now.logPath }) }];
  });
}

const outcome = ({ status, exitCode }: GateResult): string =>
  exitCode === null ? status.replaceAll("_", " ") : `${status.replaceAll("_", " ")} (exit ${exitCode})`;
