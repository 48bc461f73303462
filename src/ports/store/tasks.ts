import type { RunChange } from "../../domain/run/change.ts";
import type { Criterion, TaskCriterion } from "../../domain/run/checklist.ts";
import type { Run, RunStatus } from "../../domain/run/run.ts";
import type { Group, Spec, Task, TaskDependency, TaskStatus } from "../../domain/task/task.ts";

/** The table of tasks, and what each waits for. */
export interface TaskRows {
  insert(task: Task): Promise<void>;
  get(id: string): Promise<Task | undefined>;
  update(task: Task): Promise<void>;
  /** By priority, then age. `unclosed`: everything that is not closed. */
  list(filter: { status?: TaskStatus; unclosed?: boolean; runId?: string; limit?: number }): Promise<Task[]>;
  ids(): Promise<string[]>;
  dependencies(): Promise<TaskDependency[]>;
  dependenciesOf(taskId: string): Promise<TaskDependency[]>;
  dependentsOf(taskId: string): Promise<TaskDependency[]>;
  addDependency(dependency: TaskDependency): Promise<void>;
  removeDependency(dependency: TaskDependency): Promise<boolean>;
}

/** Groups of tasks that are followed together. */
export interface GroupRows {
  insert(group: Group, memberIds: readonly string[]): Promise<void>;
  get(id: string): Promise<Group | undefined>;
  byName(name: string): Promise<Group[]>;
  list(): Promise<Group[]>;
  members(groupId: string): Promise<string[]>;
  /** Active groups that have this task as a member. */
  activeWith(taskId: string): Promise<Group[]>;
  /** Completed groups that have this task as a member. */
  completedWith(taskId: string): Promise<Group[]>;
  addMembers(groupId: string, taskIds: readonly string[]): Promise<void>;
  removeMembers(groupId: string, taskIds: readonly string[]): Promise<void>;
  setStatus(groupId: string, status: Group["status"], completedAt: number | null): Promise<void>;
}

/** Which specification each task has now. */
export interface SpecRows {
  put(spec: Spec): Promise<void>;
  get(taskId: string): Promise<Spec | undefined>;
  /** Which of these texts some task has now. */
  inUse(digests: readonly string[]): Promise<ReadonlySet<string>>;
}

/** The table of runs: one row for each objective. */
export interface RunRows {
  insert(run: Run): Promise<void>;
  get(id: string): Promise<Run | undefined>;
  /** The newest active run, or undefined. */
  current(): Promise<Run | undefined>;
  /** Newest first. */
  list(limit: number): Promise<Run[]>;
  /** Where its work goes, decided when its first agent gets a worktree. */
  setBranches(
    id: string,
    branches: { readonly targetBranch: string; readonly landingBranch: string | null },
  ): Promise<void>;
  /** Stores the commit at which the work of the run begins. A stored commit is never replaced. */
  setStart(id: string, commit: string): Promise<void>;
  setObjective(id: string, objective: string): Promise<void>;
  /** `leftOpen`: one sentence for each open end. */
  complete(id: string, status: RunStatus, now: number, leftOpen?: readonly string[]): Promise<void>;
  /** The open ends at the end of the run; empty while the run is active. */
  leftOpen(id: string): Promise<string[]>;
  /** It is active, as if it had never ended. */
  reopen(id: string): Promise<void>;
  addChange(change: RunChange): Promise<void>;
  /** Changes to the objective and the checklist, oldest first. */
  changes(id: string): Promise<RunChange[]>;
}

/** The checklists of runs, and which task serves which criterion. */
export interface CriterionRows {
  /** Inserts it, or replaces the one with its number. */
  put(criterion: Criterion): Promise<void>;
  /** By number. */
  of(runId: string): Promise<Criterion[]>;
  ofTask(taskId: string): Promise<TaskCriterion[]>;
  tasksOf(runId: string): Promise<TaskCriterion[]>;
  all(): Promise<TaskCriterion[]>;
  /** The task serves these criteria of the run, and no others. */
  serve(taskId: string, runId: string, numbers: readonly number[]): Promise<void>;
}
