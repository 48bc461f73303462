import { capabilities } from "../agent/capability.ts";
import type { MailType } from "./types.ts";

/** `texts` is a list of strings; `time` an ISO-8601 text; `findings` what a review found. */
export const fieldKinds = ["string", "number", "boolean", "texts", "time", "findings"] as const;
export type FieldKind = (typeof fieldKinds)[number];

/** Where a missing field comes from: the sender, the recipient, the branch named in the payload, or the text itself. */
export const fieldSources = [
  "sender.name",
  "sender.task",
  "sender.branch",
  "sender.commit",
  "sender.files",
  "sender.exitCode",
  "recipient.name",
  "recipient.capability",
  "recipient.task",
  "recipient.branch",
  "recipient.spec",
  "recipient.scope",
  "branch.agent",
  "branch.task",
  "message.body",
] as const;
export type FieldSource = (typeof fieldSources)[number];

export interface PayloadField {
  readonly name: string;
  readonly kind: FieldKind;
  /** Must be there once everything computable has been filled in. */
  readonly required: boolean;
  /** Set: may be left out, because it is known from here. */
  readonly computable?: FieldSource;
  readonly nullable?: boolean;
  readonly oneOf?: readonly string[];
}

export const severities = ["warning", "error", "critical"] as const;
const tiers = ["clean-merge", "auto-resolve", "ai-resolve", "reimagine"] as const;

/** A review of these two verdicts sends its subject back to work. */
export const verdicts = ["pass", "fail", "needs_changes"] as const;

type Extra = Omit<Partial<PayloadField>, "name" | "kind">;
const must = (name: string, kind: FieldKind, extra: Extra = {}): PayloadField => ({
  name,
  kind,
  required: true,
  ...extra,
});
const may = (name: string, kind: FieldKind, extra: Extra = {}): PayloadField => ({
  name,
  kind,
  required: false,
  ...extra,
});

const branchTask = may("taskId", "string", { computable: "branch.task" });

/**
 * What each type carries. This table drives the CLI's check, the MCP and wire schemas, the documents and the prompts.
 * Fields that are not listed are stored untouched, so a newer sender can add some. Types without fields are free-form.
 * The branch, task and files of `merge_ready`, `merged`, `merge_failed` and `review` belong to another agent's work and
 * so are never taken from the sender. `exitCode` is null when no gate was run.
 */
export const payloadShapes: Readonly<Record<MailType, readonly PayloadField[]>> = {
  status: [],
  question: [],
  result: [],
  error: [],
  worker_done: [
    must("taskId", "string", { computable: "sender.task", nullable: true }),
    must("branch", "string", { computable: "sender.branch", nullable: true }),
    must("exitCode", "number", { computable: "sender.exitCode", nullable: true }),
    must("filesModified", "texts", { computable: "sender.files" }),
    may("commit", "string", { computable: "sender.commit" }),
  ],
  worker_died: [
    must("agentName", "string"),
    must("capability", "string"),
    must("taskId", "string", { nullable: true }),
    must("reason", "string"),
    must("lastActivity", "time"),
    must("terminatedBy", "string", { oneOf: ["tier0", "tier1", "runner"] }),
  ],
  merge_ready: [
    must("branch", "string"),
    branchTask,
    may("agentName", "string", { computable: "branch.agent" }),
    may("filesModified", "texts"),
  ],
  merged: [must("branch", "string"), branchTask, may("tier", "string", { oneOf: tiers })],
  merge_failed: [
    must("branch", "string"),
    branchTask,
    may("conflictFiles", "texts"),
    must("errorMessage", "string", { computable: "message.body" }),
  ],
  escalation: [
    must("severity", "string", { oneOf: severities }),
    may("taskId", "string", { computable: "sender.task", nullable: true }),
    must("context", "string", { computable: "message.body" }),
  ],
  health_check: [
    must("agentName", "string", { computable: "recipient.name" }),
    must("checkType", "string", { oneOf: ["liveness", "readiness"] }),
  ],
  dispatch: [
    may("taskId", "string", { computable: "recipient.task", nullable: true }),
    may("specPath", "string", { computable: "recipient.spec", nullable: true }),
    may("capability", "string", { computable: "recipient.capability", oneOf: capabilities }),
    may("fileScope", "texts", { computable: "recipient.scope" }),
    may("skipScouts", "boolean"),
    may("skipReview", "boolean"),
    may("maxAgents", "number"),
  ],
  assign: [
    must("taskId", "string", { computable: "recipient.task" }),
    may("specPath", "string", { computable: "recipient.spec", nullable: true }),
    must("workerName", "string", { computable: "recipient.name" }),
    may("branch", "string", { computable: "recipient.branch", nullable: true }),
  ],
  decision_gate: [
    must("options", "texts"),
    must("context", "string", { computable: "message.body" }),
    may("deadline", "time"),
  ],
  review: [
    must("verdict", "string", { oneOf: verdicts }),
    must("branch", "string"),
    may("commit", "string"),
    may("findings", "findings"),
  ],
  decision: [must("gateId", "string"), must("option", "string"), may("note", "string")],
  shutdown: [must("reason", "string", { computable: "message.body" }), may("deadline", "time")],
  spec_ready: [must("taskId", "string", { computable: "sender.task" }), must("specPath", "string")],
};
