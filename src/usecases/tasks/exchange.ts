import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import { dependencyCycle } from "../../domain/task/dependency.ts";
import { formatSeeds, mergeSeeds, type OwnFields, parseSeeds, type SeedsRecord } from "../../domain/task/seeds.ts";
import type { Group, Task, TaskDependency } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { byCaller, record } from "../events/record.ts";
import { resumeGroupsOf } from "../groups/complete-group.ts";
import type { UseCase } from "../usecase.ts";
import { followClosing } from "./close-task.ts";
import { detailsOf, type TaskDetail } from "./task-detail.ts";

export interface ExportTasksRequest {
  /** What the file holds now, if there is one. */
  readonly existing?: string | undefined;
}

export interface ExportTasksReply {
  readonly text: string;
  /** Tasks of this project in the text. */
  readonly tasks: number;
  /** Lines of the file that stay because they are newer than ours or of tasks we do not know. */
  readonly kept: number;
}

/** All tasks as text for a file that git can merge line by line. */
export const exportTasks: UseCase<ExportTasksRequest, ExportTasksReply> = {
  kind: "read",
  request: fields({}, { existing: text }),
  run: async (tx, _context, { existing }) => {
    const there = readSeeds(existing ?? "");
    if (!there.ok) return there;
    const details = await detailsOf(tx, await tx.tasks.list({}));
    const ours = details.map(recordOf);
    const merged = mergeSeeds(ours, there.value);
    const kept = merged.filter((record) => there.value.includes(record)).length;
    return ok({ text: formatSeeds(merged), tasks: ours.length, kept });
  },
};

/** The records of a text; the first line that cannot be read refuses all of it. */
export function readSeeds(text: string): Result<readonly SeedsRecord[], Refusal> {
  const { records, problems } = parseSeeds(text);
  const first = problems[0];
  if (first === undefined) return ok(records);
  const others = problems.length - 1;
  const more = others === 0 ? "" : `, and ${others} more ${others === 1 ? "line is" : "lines are"} wrong too`;
  return no(invalid(`line ${first.line}`, `${first.problem}${more}`));
}

function recordOf({ task, blocks, blockedBy }: TaskDetail): SeedsRecord {
  const { mergeState, claimedBy, claimExpires, parentId, files, shares, runId: _, ...shared } = task;
  const own = { mergeState, claimedBy, claimExpires, parentId, files, shares };
  return { ...shared, blocks, blockedBy, own, extra: {} };
}

export interface ImportTasksReply {
  readonly created: readonly string[];
  readonly updated: readonly string[];
  /** Tasks that are the same here, or newer. */
  readonly unchanged: number;
  /** Dependencies on tasks that neither the text nor the project has; they were left out. */
  readonly unknownDependencies: readonly TaskDependency[];
  readonly ready: readonly TaskDetail[];
  readonly completedGroups: readonly Group[];
}

/** Imports every line that is newer than the stored task. If one line is wrong, nothing is imported. */
export const importTasks: UseCase<{ readonly text: string }, ImportTasksReply> = {
  kind: "write",
  request: fields({ text }),
  operatorOnly: true,
  run: async (tx, context, { text }) => {
    const read = readSeeds(text);
    if (!read.ok) return read;
    const stored = new Map((await tx.tasks.list({})).map((task) => [task.id, task]));
    const changed = read.value.filter((record) => record.updatedAt > (stored.get(record.id)?.updatedAt ?? -1));
    for (const record of changed) await put(tx, record, stored.get(record.id));
    const unknownDependencies = await putDependencies(tx, read.value, changed);
    const cycle = dependencyCycle(await tx.tasks.dependencies());
    if (cycle !== undefined) return no({ kind: "dependency-cycle", path: cycle });

    const ids = (records: readonly SeedsRecord[]): string[] => records.map((record) => record.id);
    const created = ids(changed.filter((record) => !stored.has(record.id)));
    const updated = ids(changed.filter((record) => stored.has(record.id)));
    const wasClosed = (record: SeedsRecord): boolean => stored.get(record.id)?.status === "closed";
    const closed = changed.filter((record) => record.status === "closed" && !wasClosed(record));
    const reopened = changed.filter((record) => record.status !== "closed" && wasClosed(record));
    if (changed.length > 0)
      await record(tx, context.now, {
        ...byCaller(context.caller),
        type: "tasks_imported",
        data: { created, updated },
      });
    await resumeGroupsOf(tx, context, ids(reopened));
    const { ready, completedGroups } = await followClosing(tx, context, ids(closed));
    const unchanged = read.value.length - changed.length;
    return ok({ created, updated, unchanged, unknownDependencies, ready: await detailsOf(tx, ready), completedGroups });
  },
};

async function put(tx: Tx, record: SeedsRecord, stored: Task | undefined): Promise<void> {
  const { blocks: _, blockedBy: __, extra: ___, own, ...shared } = record;
  const kept = shared.status === "closed" ? { claimedBy: null, claimExpires: null } : {};
  const task = { ...shared, ...(own ?? ownOf(stored)), ...kept, runId: stored?.runId ?? null };
  await (stored === undefined ? tx.tasks.insert(task) : tx.tasks.update(task));
}

const ownOf = (stored: Task | undefined): OwnFields => ({
  mergeState: stored?.mergeState ?? "none",
  claimedBy: stored?.claimedBy ?? null,
  claimExpires: stored?.claimExpires ?? null,
  parentId: stored?.parentId ?? null,
  files: stored?.files ?? [],
  shares: stored?.shares ?? [],
});

/** What a changed task waits for becomes what its line and the `blocks` of other lines say; the rest stays. */
async function putDependencies(
  tx: Tx,
  records: readonly SeedsRecord[],
  changed: readonly SeedsRecord[],
): Promise<readonly TaskDependency[]> {
  const changedIds = new Set(changed.map((record) => record.id));
  const known = new Set(await tx.tasks.ids());
  const wanted = new Map<string, TaskDependency>();
  for (const record of records) {
    for (const { taskId, dependsOn } of statedBy(record)) {
      const concerns = changedIds.has(taskId) || changedIds.has(record.id);
      if (concerns) wanted.set(keyOf({ taskId, dependsOn }), { taskId, dependsOn });
    }
  }
  for (const id of changedIds) {
    for (const dependency of await tx.tasks.dependenciesOf(id)) {
      if (!wanted.has(keyOf(dependency))) await tx.tasks.removeDependency(dependency);
    }
  }
  const isKnown = ({ taskId, dependsOn }: TaskDependency): boolean => known.has(taskId) && known.has(dependsOn);
  for (const dependency of wanted.values()) if (isKnown(dependency)) await tx.tasks.addDependency(dependency);
  return [...wanted.values()].filter((dependency) => !isKnown(dependency));
}

function statedBy(record: SeedsRecord): readonly TaskDependency[] {
  return [
    ...record.blockedBy.map((dependsOn) => ({ taskId: record.id, dependsOn })),
    ...record.blocks.map((taskId) => ({ taskId, dependsOn: record.id })),
  ];
}

const keyOf = ({ taskId, dependsOn }: TaskDependency): string => `${taskId} ${dependsOn}`;
