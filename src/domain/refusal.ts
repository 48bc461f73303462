import type { NotImportable } from "./earlier/earlier-project.ts";
import type { RunStatus } from "./run/run.ts";
/**
 * Every way a use case may say no, as data. Surfaces turn each kind into words, an exit code and a next command in one
 * exhaustive table (`surfaces/shared/refusals.ts`), so no caller ever parses a message.
 */
export type Refusal =
  | InvalidInput
  | NotFound
  | { readonly kind: "not-allowed"; readonly action: string; readonly caller: string; readonly why: string }
  | { readonly kind: "unknown-token" }
  | TokenElsewhere
  | { readonly kind: "busy"; readonly what: string }
  /** A file was edited by another program since the caller read it. */
  | { readonly kind: "changed-outside"; readonly file: string }
  /** The engine does not listen for browsers. */
  | { readonly kind: "not-served" }
  | AgentRefusal
  | MailRefusal
  | TaskRefusal
  | GroupRefusal
  | RunRefusal
  | MergeRefusal
  | NotImportable;

/** An agent's token, shown where it does not count: outside of its turn's processes, or over a connection. */
export interface TokenElsewhere {
  readonly kind: "token-elsewhere";
  readonly over: "process" | "connection";
}

/** A value the user typed cannot be used. `problem` completes the sentence "`<field>` ...". */
export interface InvalidInput {
  readonly kind: "invalid";
  readonly field: string;
  readonly problem: string;
  readonly value?: string;
  readonly allowed?: readonly string[];
  readonly nearest?: string;
}

export const nouns = [
  "agent",
  "task",
  "message",
  "group",
  "run",
  "spec",
  "branch",
  "merge entry",
  "merge operation",
  "gate result",
  "receipt",
  "check",
  "snapshot",
  "criterion",
  "event",
  "finding",
  "attention item",
  "key",
] as const;
export type Noun = (typeof nouns)[number];

export interface NotFound {
  readonly kind: "not-found";
  readonly noun: Noun;
  readonly id: string;
  readonly nearest?: string;
  /** What to do about it, where that depends on the command. */
  readonly advice?: string;
}

export type AgentRefusal =
  | {
      readonly kind: "name-taken";
      readonly name: string;
      readonly state: string;
      /** The run that the agent leads already, or did until it ended, when it was asked to lead another one. */
      readonly leads?: { readonly runId: string; readonly objective: string | null; readonly status: RunStatus };
    }
  | { readonly kind: "too-deep"; readonly depth: number; readonly limit: number; readonly limitFrom: LimitSource }
  | {
      readonly kind: "run-full";
      readonly run: string;
      /** Agents that the run has had, the coordinator among them. */
      readonly agents: number;
      readonly limit: number;
      readonly limitFrom: LimitSource;
    }
  | {
      readonly kind: "parent-full";
      readonly parent: string;
      /** Its children that have not ended. */
      readonly children: number;
      readonly limit: number;
      readonly limitFrom: LimitSource;
    }
  | { readonly kind: "parent-ended"; readonly parent: string; readonly state: string }
  | {
      readonly kind: "scope-overlap";
      readonly owner: string;
      readonly wanted: string;
      readonly owned: string;
      /** Every pair that meets, the one above included. */
      readonly all: readonly {
        readonly owner: string;
        readonly wanted: string;
        readonly owned: string;
        readonly shared: boolean;
      }[];
      /** What the new agent and the tasks of the others would have to share; absent where the caller may not change one. */
      readonly toShare?: {
        readonly own: readonly string[];
        readonly others: readonly { readonly task: string; readonly shares: readonly string[] }[];
      };
    }
  /** `next`: what to do in its place. */
  | { readonly kind: "not-recoverable"; readonly name: string; readonly why: string; readonly next?: string }
  /** The command cannot be done before these agents have ended. */
  | { readonly kind: "agents-live"; readonly names: readonly string[] }
  | {
      readonly kind: "runtime-unavailable";
      readonly runtime: string;
      readonly program: string;
      readonly problem: ProgramProblem;
    }
  /** The settings say that agents must be confined by the system, and it cannot. */
  | { readonly kind: "unconfined"; readonly problem: string }
  /** Git does not know who commits, so no agent could commit anything; `said` are git's words. */
  | { readonly kind: "committer-unknown"; readonly said: string }
  | {
      readonly kind: "may-not-spawn";
      readonly parent: string;
      readonly capability: string;
      readonly may: readonly string[];
    };

/** Why a program that agents need cannot be started from where it was asked for. */
export type ProgramProblem =
  | { readonly kind: "missing" }
  | { readonly kind: "broken"; readonly at: string; readonly said: string }
  /** It starts, but not where the system confines it. */
  | { readonly kind: "unseen"; readonly at: string; readonly said: string };

type MailRefusal =
  | {
      readonly kind: "recipient-ended";
      readonly name: string;
      readonly state: string;
      readonly reopening: readonly string[];
      /** What to type instead, where `ov recover` would be refused. */
      readonly next?: string;
    }
  | { readonly kind: "no-recipients"; readonly address: string; readonly why: string }
  | { readonly kind: "hop-limit"; readonly thread: string; readonly limit: number }
  | {
      readonly kind: "rate-limited";
      readonly sender: string;
      readonly limit: number;
      readonly per: string;
      readonly retryAfterMs: number;
    }
  | {
      readonly kind: "type-not-yours";
      readonly type: string;
      readonly capability: string;
      readonly allowed: readonly string[];
    }
  | { readonly kind: "delivery-state"; readonly id: string; readonly state: string; readonly wanted: string };

type TaskRefusal =
  | { readonly kind: "task-held"; readonly task: string; readonly holder: string }
  | { readonly kind: "task-status"; readonly task: string; readonly status: string; readonly wanted: readonly string[] }
  | { readonly kind: "task-blocked"; readonly task: string; readonly by: readonly string[] }
  | { readonly kind: "dependency-cycle"; readonly path: readonly string[] };

type GroupRefusal =
  | { readonly kind: "group-ambiguous"; readonly name: string; readonly ids: readonly string[] }
  | {
      readonly kind: "group-member";
      readonly group: string;
      readonly task: string;
      readonly problem: "already" | "absent";
    }
  | { readonly kind: "group-would-be-empty"; readonly group: string };

type RunRefusal =
  | { readonly kind: "no-current-run" }
  | {
      readonly kind: "run-open";
      readonly run: string;
      /** The flag by which a command names this run; empty where the command takes it by itself. */
      readonly which: string;
      readonly agents: readonly string[];
      /** Branches of it that are still in the merge queue. */
      readonly branches: readonly string[];
      /** Ids of its tasks that are not closed. */
      readonly tasks: readonly string[];
      /** Numbers of its criteria that are neither proved nor waived. */
      readonly criteria: readonly number[];
      /** All of these in words, each with the command that clears it. */
      readonly open: readonly { readonly what: string; readonly fix: string }[];
      /** Only the operator may end a run with open ends. */
      readonly mayForce: boolean;
    };

type MergeRefusal =
  | {
      readonly kind: "merge-status";
      readonly entry: number;
      readonly branch: string;
      readonly status: string;
      readonly wanted: readonly string[];
    }
  | {
      readonly kind: "uncommitted-rest";
      readonly agent: string;
      readonly branch: string;
      readonly files: readonly string[];
      /** The branch has commits, so it can land without the files. */
      readonly hasCommits: boolean;
      /** Why `--commit-rest` could not commit the files, and the command to type next. */
      readonly problem?: string;
      readonly fix?: string;
    }
  | {
      readonly kind: "commits-off-branch";
      readonly agent: string;
      readonly branch: string;
      /** How many commits the branch lacks. */
      readonly commits: number;
      /** The first lines of their messages. */
      readonly subjects: string;
      /** Where they are, as the end of a sentence. */
      readonly place: string;
      /** The branch has commits, so it can land without these. */
      readonly hasCommits: boolean;
      /** What to type to bring them to the branch. */
      readonly fix: string;
    }
  | {
      readonly kind: "work-in-snapshot";
      readonly agent: string;
      readonly branch: string;
      readonly snapshot: string;
      readonly files: readonly string[];
      /** How many commits the branch lacks, and the first lines of their messages. */
      readonly commits: number;
      readonly subjects: string;
      readonly hasCommits: boolean;
      /** What to type to land all of it. */
      readonly fix: string;
    }
  | { readonly kind: "no-own-commits"; readonly agent: string; readonly branch: string }
  /** The landing branch or the branch of an entry moved since the caller looked at its conflicts. */
  | { readonly kind: "merge-moved"; readonly entry: number; readonly branch: string }
  | { readonly kind: "merge-queued"; readonly entry: number; readonly branch: string; readonly instead: number }
  /** `next`: what to type instead, where that is known. */
  | { readonly kind: "nothing-to-undo"; readonly what: string; readonly why: string; readonly next?: string };

export const invalid = (
  field: string,
  problem: string,
  extra: Omit<InvalidInput, "kind" | "field" | "problem"> = {},
): InvalidInput => ({
  kind: "invalid",
  field,
  problem,
  ...extra,
});

export const notFound = (noun: Noun, id: string, nearest?: string): NotFound =>
  nearest === undefined ? { kind: "not-found", noun, id } : { kind: "not-found", noun, id, nearest };

/**
 * The source of a limit: a configuration key, in a file or variable or by default, or a flag, with the words that name
 * it.
 */
export type LimitSource =
  | { readonly key: string; readonly source: string | null }
  | { readonly flag: string; readonly of: string };
