import type { Verdict } from "../merge/entry.ts";
import type { DoneRequest } from "./request.ts";

/**
 * completion  an agent says that it is done
 * check       the gates were asked for on a ref
 * verify      a receipt was asked to be run again
 */
export const checkKinds = ["completion", "check", "verify"] as const;
export type CheckKind = (typeof checkKinds)[number];

/**
 *   queued   -> running  an engine took it
 *   running  -> queued   its engine is gone, or what it looked at has changed meanwhile
 *   running  -> done     the answer is yes
 *   running  -> failed   the answer is no; `problem` says why
 */
export const checkStatuses = ["queued", "running", "done", "failed"] as const;
export type CheckStatus = (typeof checkStatuses)[number];

export const openCheckStatuses = ["queued", "running"] as const satisfies readonly CheckStatus[];

/** A gate that is not configured yet. */
export interface TrialGate {
  readonly name: string;
  readonly command: string;
}

/**
 * The request of a check, by its kind. `trial`: runs every gate, also after one has failed, and these gates too. So a
 * person sees what the gates say before a team relies on them.
 */
export type CheckTerms =
  | { readonly kind: "completion"; readonly done: DoneRequest }
  | { readonly kind: "check"; readonly envFile?: string; readonly trial?: readonly TrialGate[] }
  | { readonly kind: "verify"; readonly receiptId: string; readonly envFile?: string };

/** Where the variables of the person lie who asked for a check; they go when it is answered. */
export const environmentOf = ({ request }: Pick<StoredCheck, "request">): string | undefined =>
  request.kind === "completion" ? undefined : request.envFile;

/** Whether a receipt could be run again with the same outcome. */
export const reproductions = ["reproduced", "differs"] as const;
export type Reproduction = (typeof reproductions)[number];

/** Something to be proved that takes longer than a command: stored when asked for, answered by the engine. */
export interface StoredCheck {
  readonly seq: number;
  readonly id: string;
  readonly kind: CheckKind;
  /** The agent whose work is checked; for a completion, its incarnation. */
  readonly agentId: string | null;
  readonly agentName: string | null;
  /** The named object: a branch, a commit, or the receipt. */
  readonly refName: string;
  /** The commit that was looked at; null before the first look. */
  readonly commitId: string | null;
  readonly status: CheckStatus;
  readonly request: CheckTerms;
  /** The current step, for a command that waits. */
  readonly progress: string | null;
  readonly verdict: Verdict | Reproduction | null;
  readonly receiptId: string | null;
  /** The missing or different points. */
  readonly problem: readonly Missing[];
  /** How often an engine took it. */
  readonly attempts: number;
  readonly requestedBy: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const isOpenCheck = ({ status }: Pick<StoredCheck, "status">): boolean =>
  status === "queued" || status === "running";

/**
 * Why work is not complete, or a check said no.
 *
 *   worktree         its files cannot be read
 *   off-branch       its commits are not on its own branch
 *   uncommitted      changes that no commit holds
 *   no-commits       nothing was done, and the agent did not say that nothing was to do
 *   code             it says that there is no code, but there is
 *   scope            files of others were changed without a reason
 *   gate             a quality gate did not pass
 *   verdict          a review without a verdict
 *   findings         a review that sends work back without saying why
 *   branch           the reviewed branch is unknown
 *   unready-branch   a child's branch is neither handed over nor given up
 *   open-child       a child is still at work
 *   open-part        a task that is a part of the lead's own is open, and no agent works on it
 *   nothing-done     a lead that nothing was built for, without a reason
 *   not-merged       a branch that was to be joined, or a part of what was merged, is not contained
 *   lost-submodule   it points at a commit of a submodule, or at a repository inside the worktree, that no other repository has
 *   conflict         it does not merge with what has landed, or would meet the same conflict again
 *   unmended         a review asked for changes, and no commit came since
 *   ended            the agent ended meanwhile
 *   mail             the report could not be sent
 *   unread-mail      mail came that the agent has to see before it ends
 *   ref              there is no such commit
 *   differs          another outcome than on record
 *   setup            the project is set up in a way that lets nothing be checked, until a person mends that
 *   engine           the engine could not do it
 */
const missingKinds = [
  "worktree",
  "off-branch",
  "half-way",
  "uncommitted",
  "no-commits",
  "code",
  "scope",
  "gate",
  "verdict",
  "findings",
  "branch",
  "unready-branch",
  "open-child",
  "open-part",
  "nothing-done",
  "not-merged",
  "lost-submodule",
  "conflict",
  "unmended",
  "ended",
  "mail",
  "unread-mail",
  "ref",
  "differs",
  "setup",
  "engine",
] as const;
export type MissingKind = (typeof missingKinds)[number];

/** One thing that is missing, and how to mend it. */
export interface Missing {
  readonly kind: MissingKind;
  readonly message: string;
  /** What to do, or the command to type. */
  readonly fix: string;
  /** Its subjects: paths, branches or agents. */
  readonly names?: readonly string[];
  readonly gate?: string;
  readonly logPath?: string;
  readonly logTail?: string;
  /** Mail that the refusal shows. */
  readonly mail?: ShownMail;
}

/** Mail that a refusal shows. The surface that has shown it confirms that with `mail.delivered`. */
export interface ShownMail {
  /** The holder of the claim: the agent's running turn. */
  readonly by: string;
  /** Numbers of the messages. */
  readonly messages: readonly number[];
  /** The messages in full, fenced as in a prompt. */
  readonly text: string;
}
