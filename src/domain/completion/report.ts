import type { Agent } from "../agent/agent.ts";
import { canonical } from "../agent/capability.ts";
import type { GateResult } from "../gate/gate.ts";
import type { Judged } from "../gate/verdict.ts";
import type { MailType } from "../mail/types.ts";
import { type DoneRequest, findingLine } from "./request.ts";
import type { WorkSeen } from "./rules.ts";

/** What the gates said about the commit; null where there was no code to ask about. */
export interface Proof extends Judged {
  readonly receiptId: string;
  readonly results: readonly Pick<GateResult, "gate" | "status" | "exitCode" | "flaky">[];
}

export interface Completion {
  readonly agent: Pick<Agent, "name" | "capability" | "taskId" | "branch">;
  readonly request: DoneRequest;
  readonly work: Pick<WorkSeen, "head" | "files"> | null;
  readonly proof: Proof | null;
  /** The branch a reviewer judged. */
  readonly reviewedBranch: string | null;
}

export interface ReportMail {
  readonly type: MailType;
  readonly subject: string;
  readonly body: string;
  readonly payload: string;
}

/** The mail that reports a completion to the parent: the work, and what the gates prove about it. */
export function reportMail(completion: Completion): ReportMail {
  const { agent, request, work, proof, reviewedBranch } = completion;
  const merges = canonical(agent.capability) === "merger";
  const changed = proof === null ? [] : (work?.files ?? []);
  const payload = {
    taskId: agent.taskId,
    branch: agent.branch,
    exitCode: proof === null || proof.results.length === 0 ? null : worst(proof),
    filesModified: changed,
    ...(proof === null || work === null ? {} : { commit: work.head }),
    // Nothing was checked where there is no proof.
    verified: proof !== null && proof.verdict !== "unverified",
    verdict: proof?.verdict ?? null,
    ...(proof === null ? {} : { receiptId: proof.receiptId, gaps: proof.gaps, gates: proof.results.map(gateFact) }),
    ...(request.expansionReason === null ? {} : { expansionReason: request.expansionReason }),
    ...(request.noCode ? { noCode: true, noCodeReason: request.noCodeReason ?? null } : {}),
    ...(request.verdict === null ? {} : { review: request.verdict, reviewedBranch }),
  };
  return {
    type: merges ? "merged" : "worker_done",
    subject: subjectOf(completion),
    body: [request.summary, ...factLines(completion)].join("\n"),
    payload: JSON.stringify(payload),
  };
}

/** The verdict as a mail of its own, with everything the builder needs to act on it. */
export function reviewMail(request: DoneRequest, branch: string, commit: string | null): ReportMail {
  const verdict = request.verdict ?? "pass";
  const findings = request.findings.map((finding) => `- ${findingLine(finding)}`);
  return {
    type: "review",
    subject: `Review ${verdict}: ${branch}`,
    body: [request.summary, ...(findings.length === 0 ? [] : ["", ...findings])].join("\n"),
    payload: JSON.stringify({
      verdict,
      branch,
      ...(commit === null ? {} : { commit }),
      findings: request.findings.map(({ file, line, severity, text }) => ({
        file,
        ...(line === null ? {} : { line }),
        severity,
        text,
      })),
    }),
  };
}

const gateFact = ({ gate, status, exitCode }: Proof["results"][number]) => ({ gate, status, exitCode });

/** Optional gates may have failed without stopping anything; they do not make the outcome worse than it is. */
const worst = ({ verdict, results }: Proof): number | null => {
  if (verdict !== "unverified") return 0;
  return results.find(({ exitCode }) => exitCode !== 0)?.exitCode ?? null;
};

function subjectOf({ agent, request, reviewedBranch }: Completion): string {
  if (request.verdict !== null) return `Reviewed (${request.verdict}): ${reviewedBranch ?? agent.taskId ?? agent.name}`;
  return `Done: ${agent.taskId ?? agent.name}`;
}

function factLines({ request, work, proof }: Completion): readonly string[] {
  if (proof === null) return request.noCode ? ["", noCodeLine(request.noCodeReason ?? null)] : [];
  const gates = proof.results.map(({ gate, status }) => `${gate} ${status}`).join(", ");
  const files = work?.files.length ?? 0;
  return [
    "",
    `Checked by the engine on commit ${(work?.head ?? "").slice(0, 10)}: ${proof.verdict.replaceAll("_", " ")}` +
      `${gates === "" ? "" : ` (${gates})`}; ${files === 1 ? "1 file" : `${files} files`} changed.`,
    ...proof.gaps.map((gap) => `Gap: ${gap}`),
    ...(request.expansionReason === null ? [] : [`Beyond its scope because: ${request.expansionReason}`]),
  ];
}

const noCodeLine = (reason: string | null): string =>
  reason === null ? "No code was changed." : `No code was changed, because: ${reason}`;
