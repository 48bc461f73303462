import { waitWords } from "../../domain/agent/status.ts";
import { isParking } from "../../domain/agent/wait.ts";
import type { WebKey } from "../../domain/web/web-key.ts";
import type { StartReply } from "../../usecases/coordinators/plan-start.ts";
import type { SendReply } from "../../usecases/mail/submit.ts";
import type { AttentionItem } from "../../usecases/operator/read-attention.ts";
import type { SinceReply } from "../../usecases/operator/read-since.ts";
import type { AgentStanding } from "../../usecases/status/overview.ts";
import type { AuditRead } from "../../usecases/web/audit.ts";
import type { IssuedKey } from "../../usecases/web/keys.ts";
import type { RunPlan, StopRunReply } from "../../usecases/web/lead-runs.ts";
import { olderSentKeys } from "../older-keys.ts";
import { iso } from "../values.ts";
import { fleetAgentView } from "./agent.ts";
import { sentView } from "./mail.ts";

/** An agent of the fleet as the page shows it: doing what, waiting why, held by what. */
export const webAgentView = (view: AgentStanding) => ({
  ...fleetAgentView(view),
  now:
    view.doing === null ? null : { tool: view.doing.tool, argument: view.doing.summary, since: iso(view.doing.since) },
  turnSince: iso(view.turnSince),
  because: becauseOf(view),
  condition: conditionOf(view),
  // Commits since its base, when its last turn ended. Null where that was never looked at, or it has no branch.
  ahead: view.agent.branch === null || view.agent.headCommit === null ? null : view.agent.ahead,
});

function becauseOf({ waits, asked, problem }: AgentStanding) {
  const [first] = waits;
  if (first === undefined) return problem;
  const words = waits.map((wait) => {
    const question = wait.kind === "reply" ? asked.get(wait.ref) : undefined;
    if (question === undefined) return waitWords(wait);
    return `${question.address === "operator" ? "your answer" : `the answer of ${question.address}`}: ${question.subject}`;
  });
  return `waits for ${words.join(", ")}`;
}

/** Parked by a provider, a budget or a person, or over a limit; null for an agent that nothing holds. */
function conditionOf({ waits, nextTry }: AgentStanding) {
  const held = waits.find(({ kind }) => isParking(kind));
  if (held !== undefined) {
    const kind = held.kind === "budget" ? "budget" : held.kind === "operator" ? "paused" : "parked";
    return { kind, words: waitWords(held), until: iso(held.deadline ?? nextTry) };
  }
  return null;
}

/** What happened since the operator last looked. */
export const sinceView = ({ since, counts, costUsd, news }: SinceReply) => ({
  since: iso(since),
  counts,
  costUsd,
  items: news.map(({ kind, at, sentence, subject }) => ({ kind, at: iso(at), sentence, subject })),
});

/** What a person is shown before a team starts. */
export const runPlanView = (plan: RunPlan) => plan;

/** A run that was started from the page. */
export const startedRunView = ({ agentName, runId, runtime, objective, targetBranch, warnings }: StartReply) => ({
  agentName,
  runId,
  runtime,
  objective,
  targetBranch,
  warnings,
});

/** A coordinator that was stopped with its run. */
export const stoppedRunView = (stopped: StopRunReply) => stopped;

/** A message that was sent over the API: 0.11 named its id in another way there. */
export const webSentView = (sent: SendReply) => ({ ...sentView(sent), ...olderSentKeys(sent) });

/** Something that needs the operator, with what can be done about it at once. */
export const attentionView = ({ since, snoozedUntil, subject, options, details, ...item }: AttentionItem) => ({
  ...item,
  detail: details,
  subject: `${subject.type === "message" ? "msg" : subject.type}:${subject.id}`,
  agent: subject.type === "agent" ? subject.id : null,
  options: options.map((label, at) => ({ number: at + 1, label })),
  actions: actionsOf(item.kind, subject.id, options),
  since: since === 0 ? null : iso(since),
  snoozedUntil: iso(snoozedUntil),
});

interface Action {
  readonly id: string;
  readonly label: string;
  readonly method: "POST";
  readonly path: string;
  readonly body?: object;
  readonly danger?: true;
  /** The field of the body that a person has to write. */
  readonly asks?: string;
}

function actionsOf(kind: AttentionItem["kind"], id: string, options: readonly string[]): readonly Action[] {
  const post = (action: string, label: string, path: string, more: Partial<Action> = {}): Action => ({
    id: action,
    label,
    method: "POST",
    path,
    ...more,
  });
  const name = encodeURIComponent(id);
  switch (kind) {
    case "decision":
      return options.map((option) => post(option, option, `/api/decisions/${name}`, { body: { option } }));
    case "approval":
      return [
        post("approve", "Approve", `/api/merge/${name}/approve`, { body: {} }),
        post("reject", "Reject", `/api/merge/${name}/reject`, { danger: true, asks: "reason" }),
      ];
    case "target":
      return [post("resume", "Resume the queue", "/api/merge/resume", { body: {} })];
    case "merge":
      return [post("retry", "Try again", `/api/merge/${name}/retry`, { body: {} })];
    case "stalled":
      return [
        post("nudge", "Nudge", `/api/agents/${name}/nudge`, { body: {} }),
        post("stop", "Stop", `/api/agents/${name}/stop`, { body: {}, danger: true }),
      ];
    case "risk":
      return [post("retry", "Let it go on", `/api/agents/${name}/retry`, { body: {} })];
    case "dead_mail":
      return [post("retry", "Send again", `/api/mail/${name}/retry`, { body: {} })];
    default:
      return [];
  }
}

/** What lets a browser or a program in, without its secret. */
export const webKeyView = ({ id, kind, role, createdAt, expiresAt, usedAt }: Omit<WebKey, "digest">) => ({
  id,
  kind,
  role,
  createdAt: iso(createdAt),
  expiresAt: iso(expiresAt),
  usedAt: iso(usedAt),
});

/** A token that was just made. Its secret is shown this once. */
export const issuedKeyView = ({ id, secret, role, expiresAt }: IssuedKey) => ({
  id,
  secret,
  role,
  expiresAt: iso(expiresAt),
});

/** A change that was asked for, and whether it was refused. */
export const auditEntryView = ({ seq, caller, action, refused, detail, createdAt }: AuditRead["entries"][number]) => ({
  id: seq,
  at: iso(createdAt),
  caller,
  action,
  refused,
  detail,
});
