import type { StoredCheck } from "../../domain/completion/check.ts";
import type { GateResult, Receipt } from "../../domain/gate/gate.ts";
import type { CheckReply } from "../../usecases/completions/checks.ts";
import type { GateLog } from "../../usecases/gates/read-log.ts";
import { iso } from "../values.ts";

/** One run of one gate. */
export const gateResultView = ({ createdAt, ...result }: GateResult) => ({ ...result, createdAt: iso(createdAt) });

/** The output of a gate in parts. `seq` is where a part ends, in bytes. */
export const gateLogView = ({ parts, ...log }: GateLog) => ({ ...log, items: parts.map(gateLogPartView) });

export const gateLogPartView = ({ end, text }: GateLog["parts"][number]) => ({ seq: end, text });

export const receiptView = ({ createdAt, ...receipt }: Receipt) => ({ ...receipt, createdAt: iso(createdAt) });

/** The evidence about a commit: the receipt, and the gate results that the receipt rests on. */
export function evidenceView({ receipt, results }: Pick<CheckReply, "receipt" | "results">) {
  const gates = results.map(gateResultView);
  return {
    receipt: receipt === null ? null : receiptView(receipt),
    commit: receipt?.headCommit ?? null,
    verdict: receipt?.verdict ?? null,
    gaps: receipt?.gaps ?? [],
    // Both names have readers: `results` those of `ov gate show`, `gates` those of `ov done` and the tools.
    results: gates,
    gates,
  };
}

/** A stored check without its request, because the request may name files with a person's variables. */
export const checkView = ({
  seq: _seq,
  request: _request,
  problem: _problem,
  createdAt,
  updatedAt,
  ...check
}: StoredCheck) => ({
  ...check,
  createdAt: iso(createdAt),
  updatedAt: iso(updatedAt),
});

/** The answer to a check: yes with its evidence, or no with everything that is missing. */
export const checkAnswerView = (reply: CheckReply, { attached }: { readonly attached: boolean }) => ({
  ...evidenceView(reply),
  check: checkView(reply.check),
  status: reply.check.status,
  attached,
  verdict: reply.check.verdict,
  receiptId: reply.check.receiptId,
  // The report that was sent when a completion was accepted.
  messageId: reply.messageId,
  passed: reply.check.status === "done",
  missing: reply.check.problem,
  problems: reply.check.problem.map(({ message }) => message),
});

/** A check that has no answer yet. */
export const openCheckView = (id: string) => ({ check: { id }, status: "open" });
