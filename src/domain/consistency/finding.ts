import type { ProcessIdentity } from "../process/process.ts";
import type { UnreadableFile } from "./facts.ts";

/**
 * A disagreement between rows, worktrees, branches, processes, leases, refs and files of one project. `key` names it in
 * `ov doctor --fix <key>`: the rule and its subject.
 */
export interface Inconsistency {
  readonly rule: string;
  readonly key: string;
  /** `fail`: work or an agent suffers. `warn`: it only takes room or confuses. */
  readonly severity: "warn" | "fail";
  /** The disagreement, as a sentence. */
  readonly says: string;
  /** Its effect on the user's work. */
  readonly affects: string;
  /** What the fix does, completing "the fix: ...". */
  readonly does: string;
  readonly steps: readonly FixStep[];
  /** The engine mends it by itself, when it starts or with its next look. */
  readonly healedByEngine: boolean;
  /** While an engine lives it alone changes this. */
  readonly isOfEngine: boolean;
}

export const rowRepairKinds = [
  "end-process",
  "revoke-token",
  "give-back-mail",
  "bury-mail",
  "cancel-turn",
  "end-turn",
  "drop-lease",
  "forget-wait",
  "queue-turn",
  "settle-state",
  "record-end",
  "clear-end",
  "clear-release",
  "adopt-orphan",
  "forget-snapshot",
  "record-snapshot",
  "end-removal",
  "free-budget",
  "free-task",
  "clear-parent-task",
  "requeue-merge",
  "fail-merge",
  "close-attempt",
  "requeue-check",
  "delete-link",
  "record-seat",
] as const;
export type RowRepairKind = (typeof rowRepairKinds)[number];

/** One change of the database. Which fields count depends on its kind: see `usecases/doctor/repair-rows`. */
export interface RowRepair {
  readonly kind: RowRepairKind;
  readonly id: string;
  readonly of?: string | undefined;
  readonly detail?: string | undefined;
  readonly number?: number | undefined;
}

/**
 * One step of a fix, as data. No step deletes what an agent wrote: files go to the trash, commits get a ref before theirs
 * goes.
 *
 *   row        changes the database, all rows of a call in one transaction
 *   trash      moves a path to the trash
 *   delete     deletes a file that holds no work: a lock, a notice, a record of a process, captured variables
 *   mode       sets permission bits
 *   retire     keeps the commit under a rescue ref unless a branch holds it, then deletes the ref
 *   drop-ref   deletes a ref whose object is not there; its name and number go to a file in the trash
 *   restore    makes a ref again
 *   reseat     makes the worktree of an agent again, with what snapshots kept
 *   relink     makes the link of a worktree again
 *   recheck    writes again what git keeps of a worktree beside its files: the branch it has checked out, its index
 *   remove     keeps the work of a worktree under a rescue ref, then takes the worktree away
 *   prune      deletes git's record of a worktree whose directory is gone
 *   end        ends a process and all below it
 *   respec     writes the copy of a specification that people read
 *   finish     finishes moves of checkouts that were cut short, or takes them back
 *   update     writes files of `.overstory/` that come from the program, as `ov update` does
 *   rebuild    copies the database aside, then builds its indexes again and switches its log on
 *   engine     wakes or starts the engine, and waits until it has mended it
 */
export type FixStep =
  | { readonly on: "row"; readonly repair: RowRepair }
  | { readonly on: "trash"; readonly path: string }
  | { readonly on: "delete"; readonly path: string }
  | { readonly on: "mode"; readonly path: string; readonly mode: number }
  | { readonly on: "retire"; readonly ref: string; readonly commit: string }
  | { readonly on: "drop-ref"; readonly ref: string; readonly commit: string }
  | { readonly on: "restore"; readonly ref: string; readonly commit: string }
  | { readonly on: "reseat"; readonly agentId: string }
  | { readonly on: "relink"; readonly agentId: string }
  | { readonly on: "recheck"; readonly file: UnreadableFile; readonly branch: string }
  | { readonly on: "remove"; readonly path: string; readonly branch: string }
  | { readonly on: "prune"; readonly path: string }
  | { readonly on: "end"; readonly process: ProcessIdentity; readonly turnId: string | null }
  | { readonly on: "respec"; readonly taskId: string }
  | { readonly on: "finish" }
  | { readonly on: "update" }
  | { readonly on: "rebuild" }
  | { readonly on: "engine" };

/** A rule with everything about it that is the same each time it is broken. */
export interface RuleTerms {
  readonly rule: string;
  readonly severity?: "fail";
  readonly affects: string;
  readonly does: string;
  readonly healedByEngine?: true;
  readonly isOfEngine?: true;
}

type OtherTerms = Omit<RuleTerms, "rule" | "severity">;

/** A rule whose breach makes work or an agent suffer. */
export const failing = (rule: string, terms: OtherTerms): RuleTerms => ({ rule, severity: "fail", ...terms });

/** A rule whose breach only takes room or confuses. */
export const warning = (rule: string, terms: OtherTerms): RuleTerms => ({ rule, ...terms });

/** What only the engine changes while it lives, and mends by itself. */
export const mendedByEngine = { healedByEngine: true, isOfEngine: true } as const;

/** One breach of a rule. */
export const breach = (terms: RuleTerms, about: string, says: string, ...steps: readonly FixStep[]): Inconsistency => ({
  rule: terms.rule,
  key: `${terms.rule}:${about}`,
  severity: terms.severity ?? "warn",
  says,
  affects: terms.affects,
  does: terms.does,
  steps,
  healedByEngine: terms.healedByEngine ?? false,
  isOfEngine: terms.isOfEngine ?? false,
});

export const row = (
  kind: RowRepairKind,
  id: string,
  more: Omit<RowRepair, "kind" | "id"> = {},
): FixStep & { on: "row" } => ({ on: "row", repair: { kind, id, ...more } });
