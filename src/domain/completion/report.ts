import type { Agent } from "../agent/agent.ts";
import { canonical } from "../agent/capability.ts";
import type { GateResult } from "../gate/gate.ts";
import type { Judged } from "../gate/verdict.ts";
import { payloadFields } from "../mail/payload.ts";
import type { MailType } from "../mail/types.ts";
import type { Criterion } from "../run/checklist.ts";
import { forPayload, namedIn } from "../text/long-list.ts";
import { shortened } from "../text/sizes.ts";
import { type DoneRequest, type Finding, findingLines, type ReviewVerdict } from "./request.ts";
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
  /** The verdict of a reviewer; null for all other agents. */
  readonly review: ReviewTold | null;
  /** Tasks that the parent can have started now because of it. */
  readonly ready?: readonly string[];
  /** For a completion without code: criteria that its task serves and that nothing shows. */
  readonly unshown?: readonly Pick<Criterion, "number" | "text">[];
  /** Of a lead: branches below it that landed nowhere and were let go, each with the reason. */
  readonly givenUp?: readonly GivenUp[];
}

export interface GivenUp {
  readonly branch: string;
  readonly reason: string;
}

/** The verdict as the reviewer's parent is told of it. */
export interface ReviewTold {
  readonly branch: string;
  /** The commit that was judged, as far as it is known. */
  readonly commit: string | null;
  /** What follows from the verdict, in one sentence. */
  readonly next: string;
}

export interface ReportMail {
  readonly type: MailType;
  readonly subject: string;
  readonly body: string;
  readonly payload: string;
}

/**
 * The mail that reports a completion to the parent: the work, and what the gates prove about it. That of a reviewer holds
 * the verdict with everything that was found, so that the parent needs no second message.
 */
export function reportMail(completion: Completion): ReportMail {
  const { agent, request, work, proof, review, ready = [], unshown = [], givenUp = [] } = completion;
  const merges = canonical(agent.capability) === "merger";
  const changed = proof === null ? [] : (work?.files ?? []);
  const files = forPayload(changed);
  const payload = {
    taskId: agent.taskId,
    branch: agent.branch,
    exitCode: proof === null || proof.results.length === 0 ? null : worst(proof),
    filesModified: files.shown,
    ...(files.left === 0 ? {} : { filesModifiedTotal: changed.length }),
    ...(proof === null || work === null ? {} : { commit: work.head }),
    // Nothing was checked where there is no proof.
    verified: proof !== null && proof.verdict !== "unverified",
    verdict: request.verdict ?? proof?.verdict ?? null,
    ...(proof === null ? {} : { receiptId: proof.receiptId, gaps: proof.gaps, gates: proof.results.map(gateFact) }),
    ...(request.expansionReason === null ? {} : { expansionReason: inPayload(request.expansionReason) }),
    ...(request.noCode ? { noCode: true, noCodeReason: inPayload(request.noCodeReason ?? null) } : {}),
    ...(unshown.length === 0 ? {} : { openCriteria: unshown.map(({ number }) => number) }),
    ...(request.verdict === null ? {} : reviewFields(request, review)),
    ...(ready.length === 0 ? {} : { readyTasks: ready }),
  };
  return {
    type: merges ? "merged" : "worker_done",
    subject: subjectOf(completion),
    body: [
      request.summary,
      ...factLines(completion),
      ...reviewLines(completion),
      ...givenUpLines(givenUp),
      ...readyLines(ready),
    ].join("\n"),
    payload: JSON.stringify({ ...ownFields(request), ...payload }),
  };
}

/** Fields of a report that only the engine fills in: what the gates proved, and what the agent typed with `ov done`. */
const engineFields: ReadonlySet<string> = new Set([
  ...["commit", "filesModifiedTotal", "receiptId", "gaps", "gates", "unverified", "readyTasks"],
  ...[
    "expansionReason",
    "noCode",
    "noCodeReason",
    "openCriteria",
    "review",
    "reviewedBranch",
    "reviewedCommit",
    "findings",
    "findingsTotal",
  ],
]);

/** What the agent itself put beside the text of the mail by which it finishes. */
const ownFields = ({ mail }: DoneRequest): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(payloadFields(mail?.payload ?? null)).filter(([name]) => !engineFields.has(name)));

/** The verdict as a mail of its own, with everything the builder needs to act on it. */
export function reviewMail(
  request: Pick<DoneRequest, "summary" | "verdict" | "findings">,
  branch: string,
  commit: string | null,
): ReportMail {
  const verdict = request.verdict ?? "pass";
  return {
    type: "review",
    subject: reviewSubject(verdict, branch),
    body: [request.summary, ...findingsBelow(request)].join("\n"),
    payload: JSON.stringify({
      verdict,
      branch,
      ...(commit === null ? {} : { commit }),
      ...findingFields(request),
    }),
  };
}

const findingsBelow = ({ findings }: Pick<DoneRequest, "findings">): readonly string[] =>
  findings.length === 0 ? [] : ["", ...findings.flatMap(findingLines)];

/** The body has every finding; the payload as many as it has room for. */
function findingFields({ findings }: Pick<DoneRequest, "findings">) {
  const { shown, left } = forPayload(findings.map(findingFact));
  return { findings: shown, ...(left === 0 ? {} : { findingsTotal: findings.length }) };
}

const findingFact = ({ file, line, severity, text, expected = null, criterion }: Finding) => ({
  ...(criterion === undefined ? {} : { criterion }),
  file,
  ...(line === null ? {} : { line }),
  severity,
  text,
  ...(expected === null ? {} : { expected }),
});

const reviewFields = ({ verdict, findings }: DoneRequest, review: ReviewTold | null) => ({
  // Both names have readers: `review` those of earlier versions.
  review: verdict,
  reviewedBranch: review?.branch ?? null,
  reviewedCommit: review?.commit ?? null,
  ...findingFields({ findings }),
});

function reviewLines({ request, review }: Completion): readonly string[] {
  if (request.verdict === null) return [];
  return [...findingsBelow(request), ...(review === null ? [] : ["", review.next])];
}

/** A long reason, cut; the body has it whole. */
const inPayload = (reason: string | null): unknown => shortened(reason, 4000);

const gateFact = ({ gate, status, exitCode }: Proof["results"][number]) => ({ gate, status, exitCode });

/** Optional gates may have failed without stopping anything; they do not make the outcome worse than it is. */
const worst = ({ verdict, results }: Proof): number | null => {
  if (verdict !== "unverified") return 0;
  return results.find(({ exitCode }) => exitCode !== 0)?.exitCode ?? null;
};

/** Behind `pass:` a branch with digits would read like a password, and be taken out of the mail. */
const verdictWords: Readonly<Record<ReviewVerdict, string>> = {
  pass: "passed",
  fail: "failed",
  needs_changes: "asks for changes",
};

const reviewSubject = (verdict: ReviewVerdict, of: string): string => `Review ${verdictWords[verdict]}: ${of}`;

function subjectOf({ agent, request, review }: Completion): string {
  if (request.mail !== undefined) return request.mail.subject;
  if (request.verdict !== null) return reviewSubject(request.verdict, review?.branch ?? agent.taskId ?? agent.name);
  return `${request.noCode ? "Nothing built" : "Done"}: ${agent.taskId ?? agent.name}`;
}

function factLines({ agent, request, work, proof, unshown = [] }: Completion): readonly string[] {
  if (proof === null) {
    if (!request.noCode) return [];
    return ["", ...noCodeLines(request.noCodeReason ?? null, agent.taskId), ...unshownLines(unshown)];
  }
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

const givenUpLines = (givenUp: readonly GivenUp[]): readonly string[] =>
  givenUp.length === 0
    ? []
    : ["", "Given up, and not landed:", ...givenUp.map(({ branch, reason }) => `- ${branch}: ${reason}`)];

const readyLines = (ready: readonly string[]): readonly string[] =>
  ready.length === 0 ? [] : ["", `Ready to be started now: ${namedIn(ready)}`];

/** The parent judges the reason: the task counts as over only by the word of the agent that had it. */
const noCodeLines = (reason: string | null, taskId: string | null): readonly string[] => [
  reason === null ? "No code was changed." : `No code was changed, because: ${reason}`,
  ...(taskId === null ? [] : [`If you do not agree, have it done: ov task reopen ${taskId}, then sling it.`]),
];

/** A task that ended without code meets no criterion. The criterion stays open until it gets a proof. */
export const unshownLines = (unshown: readonly Pick<Criterion, "number" | "text">[]): readonly string[] =>
  unshown.length === 0
    ? []
    : [
        "The task serves criteria that nothing shows. They stay open until the coordinator names what shows them (ov run criteria prove <n>) or has them done:",
        ...unshown.map(({ number, text }) => `- criterion ${number}: ${text}`),
      ];
