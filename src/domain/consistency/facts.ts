import type { Agent } from "../agent/agent.ts";
import type { StoredCheck } from "../completion/check.ts";
import type { DeliveryState } from "../mail/types.ts";
import type { MergeEntry } from "../merge/entry.ts";
import type { Lease, ProcessIdentity, ProcessRecord } from "../process/process.ts";
import type { Run } from "../run/run.ts";
import type { Task } from "../task/task.ts";
import type { Turn, TurnStatus } from "../turn/turn.ts";

/** Everything that the rules look at, as it was at one moment. Nothing in it can change or fail. */
export interface ProjectFacts {
  readonly place: { readonly root: string; readonly state: string };
  /** Null where nothing was ever stored. */
  readonly rows: StoredRows | null;
  readonly git: GitFacts;
  readonly files: FileFacts;
  readonly engine: EngineFacts;
  /** Keys (`processKey`) of processes that are gone for certain. A process that cannot be seen is not among them. */
  readonly gone: ReadonlySet<string>;
}

export const processKey = ({ pid, startToken, bootId }: ProcessIdentity): string => `${pid} ${startToken} ${bootId}`;

/** The status of the turn that a row names; null where there is no such turn. */
type OfTurn = { readonly turnStatus: TurnStatus | null };

/** The rows that have not come to their end, and those by which files and refs are known. */
export interface StoredRows {
  readonly projectId: string | null;
  readonly agents: readonly Agent[];
  readonly runs: readonly Run[];
  /** Queued and running. */
  readonly turns: readonly Turn[];
  /** Not ended. */
  readonly processes: readonly (ProcessRecord & OfTurn)[];
  /** Held. `holder`: the recorded process; null where there is no such record. */
  readonly leases: readonly (Lease & OfTurn & { readonly holder: ProcessRecord | null })[];
  /** Not revoked. */
  readonly tokens: readonly (OfTurn & {
    readonly digest: string;
    readonly agentId: string;
    readonly turnId: string | null;
  })[];
  /** Claimed by or handed to a turn, or without their message. */
  readonly deliveries: readonly (OfTurn & {
    readonly messageSeq: number;
    readonly toAgent: string;
    readonly state: DeliveryState;
    readonly turnId: string | null;
  })[];
  /** Queued for a name that no agent ever had, and that is not the operator's. */
  readonly unreadable: readonly { readonly messageSeq: number; readonly toAgent: string }[];
  /** Names with queued mail that starts a turn. */
  readonly wokenNames: readonly string[];
  readonly waits: readonly StoredWait[];
  /** Not closed, or held. */
  readonly tasks: readonly Task[];
  readonly taskIds: readonly string[];
  /** Open entries. */
  readonly merges: readonly MergeEntry[];
  /** Every number that was ever given. */
  readonly mergeIds: readonly number[];
  readonly attempts: readonly { readonly id: string }[];
  /** Operations by which branches moved. */
  readonly operationIds: readonly string[];
  /** Queued and running. */
  readonly checks: readonly StoredCheck[];
  readonly snapshots: readonly StoredSnapshot[];
  readonly removals: readonly (ProcessIdentity & { readonly agentName: string })[];
  /** Money that was set aside for a turn. */
  readonly reservations: readonly (OfTurn & { readonly turnId: string })[];
  /** Links between rows of which one end is missing. */
  readonly dangling: readonly DanglingRow[];
  readonly blobs: readonly string[];
  readonly specs: readonly { readonly taskId: string; readonly path: string; readonly digest: string }[];
  /** Files with variables that an agent or a check still needs. */
  readonly environments: readonly string[];
}

export interface StoredWait {
  readonly agentName: string;
  readonly kind: string;
  readonly ref: string;
  /** For a wait for a reply: is the message there that was sent? */
  readonly hasMessage: boolean;
}

export interface StoredSnapshot {
  readonly ref: string;
  readonly commitId: string;
  readonly agentName: string;
}

/** Tables whose rows are links, or belong to another row and mean nothing without it. */
export const linkTables = [
  "task_deps",
  "group_members",
  "task_criteria",
  "deliveries",
  "tokens",
  "transitions",
] as const;
export type LinkTable = (typeof linkTables)[number];

export interface DanglingRow {
  readonly table: LinkTable;
  readonly one: string;
  readonly other: string;
}

export interface GitFacts {
  /** Refs below `refs/heads/overstory/` and `refs/overstory/`, with their commits. */
  readonly refs: ReadonlyMap<string, string>;
  /** Those of these refs whose object is missing, so that git cannot read them. */
  readonly brokenRefs: ReadonlyMap<string, string>;
  /** Commits that rows name and git does not have. */
  readonly missing: ReadonlySet<string>;
  /** The worktrees that git has on record, below the directories of ours. */
  readonly records: readonly WorktreeRecord[];
  /** What stands in the directories of ours. */
  readonly places: readonly SeenPlace[];
  /** By the id of the agent: is what stands at the path of its worktree the directory that it was given? */
  readonly standings: ReadonlyMap<string, "own" | "nothing" | "other">;
  /** Lock files of git in this repository. */
  readonly locks: readonly SeenLock[];
  /** Files of git that git cannot read, as a power cut leaves them: empty, or with other bytes. */
  readonly unreadable: readonly UnreadableFile[];
}

/**
 *   ref     of ours
 *   head    says what a worktree of an agent has checked out
 *   index   of such a worktree
 */
export interface UnreadableFile {
  readonly kind: "ref" | "head" | "index";
  readonly path: string;
  /** The path of the worktree whose file it is. */
  readonly worktree: string | null;
}

/** Which directory of ours a worktree belongs into. */
export type PlaceKind = "agent" | "gate";

export interface WorktreeRecord {
  readonly kind: PlaceKind;
  readonly path: string;
  /** Short name; null when detached. */
  readonly branch: string | null;
  readonly exists: boolean;
}

export interface SeenPlace {
  readonly kind: PlaceKind;
  readonly name: string;
  readonly path: string;
  readonly isDirectory: boolean;
  /** `sound`: it is a checkout of this repository. `clone`: it has a git directory of its own. */
  readonly link: "sound" | "clone" | "missing" | "astray";
}

export interface SeenLock {
  readonly path: string;
  /** No living process can hold it. */
  readonly isStale: boolean;
}

export interface FileFacts {
  /** Files and directories of the state directory, by their path below it. */
  readonly entries: readonly SeenFile[];
  /** Small files that name a process: the keeper, the notice of the engine, locks. */
  readonly identities: readonly NamedProcess[];
  /** `agents/<name>/turn.pid`: the readable copy of what runs. */
  readonly mirrors: readonly { readonly path: string; readonly agentName: string; readonly turnId: string | null }[];
  /** Moves of a checkout that were cut short. */
  readonly moves: readonly { readonly path: string; readonly checkout: string; readonly isOurs: boolean }[];
  /** What the state directory says about itself. */
  readonly record: { readonly id: string; readonly root: string } | null;
  /** Process numbers in names of files whose process is gone. */
  readonly gonePids: ReadonlySet<number>;
  /** Specifications that are shown nowhere, though their text is kept. */
  readonly hiddenSpecs: ReadonlySet<string>;
}

export interface SeenFile {
  readonly path: string;
  readonly kind: "file" | "directory" | "link" | "other";
  /** Permission bits. */
  readonly mode: number;
  readonly ageMs: number;
}

export interface NamedProcess {
  readonly path: string;
  /** Null when the file cannot be read as one. */
  readonly process: ProcessIdentity | null;
  /** A notice of an engine that serves another place. */
  readonly isElsewhere: boolean;
  readonly ageMs: number;
}

export interface EngineFacts {
  /** An engine of this project runs. */
  readonly isAlive: boolean;
  readonly answers: boolean;
  readonly pid: number | null;
  readonly version: string | null;
  /** The process that restarts it. */
  readonly keeper: "alive" | "gone" | "none";
  readonly keeperAgeMs: number;
}
