import type { Approval } from "./entry.ts";

export const mergeModes = ["manual", "auto", "approve"] as const;
export type MergeMode = (typeof mergeModes)[number];

/**
 * Who asks for a branch to land.
 *
 *   operator  a person, by a command or by mail of their own
 *   parent    the recorded parent of the branch's agent; when that has ended, whoever it answered to
 *   other     anybody else, the agent itself included: nobody approves their own work
 */
export const askers = ["operator", "parent", "other"] as const;
export type Asker = (typeof askers)[number];

export interface ApprovalFacts {
  readonly asker: Asker;
  readonly mode: MergeMode;
  /** Some gate will look at what lands. */
  readonly gated: boolean;
  readonly unverified: "wait" | "land";
}

/** May it land without another word? The operator's word settles it; a parent's does where gates back it up. */
export function approvalFor({ asker, mode, gated, unverified }: ApprovalFacts): Approval {
  if (asker === "operator") return "operator";
  if (asker === "other" || mode === "approve") return "waiting";
  return gated || unverified === "land" ? "parent" : "waiting";
}

/** Why it must wait, for the person who decides. Completes the sentence "it would land; ...". */
export function waitingReason({ asker, mode, gated, unverified }: ApprovalFacts): string {
  if (mode === "approve") return "this project wants your word for every branch (merge.mode)";
  if (asker !== "parent") return "nobody above its agent has approved it";
  if (!gated && unverified === "wait") return "no gate is configured, so nothing has checked it (merge.unverified)";
  return "it was rejected before";
}

/** Whose approval is enough for an entry to be taken up by itself. In manual mode a person says when. */
export const sufficientApprovals = (mode: MergeMode): readonly Approval[] =>
  mode === "manual" ? ["operator"] : ["parent", "operator"];

const strength: Readonly<Record<Approval, number>> = { denied: 0, waiting: 1, parent: 2, operator: 3 };

/** Somebody who asks again can only add to what was approved before. */
export const strongerApproval = (a: Approval, b: Approval): Approval => (strength[a] >= strength[b] ? a : b);
