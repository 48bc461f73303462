import { textOf } from "../../domain/earlier/columns.ts";
import { beadsTask, type EarlierTask, seedsTask } from "../../domain/earlier/convert-tasks.ts";
import type { EarlierRow } from "../../domain/earlier/earlier-project.ts";
import { dependencyCycle } from "../../domain/task/dependency.ts";
import { parseSeeds } from "../../domain/task/seeds.ts";
import type { TaskDependency } from "../../domain/task/task.ts";
import type { Taking } from "./take-rows.ts";

/** Several lines of one task may follow each other; the newest counts. The others are in it. */
export async function takeSeeds(taking: Taking, rows: readonly EarlierRow[]): Promise<void> {
  const lines = rows.flatMap((row) => {
    const line = taking.convert(row, (values) => textOf(values, "!line"));
    const { records, problems } = parseSeeds(line ?? "");
    const [record] = records;
    for (const { problem } of problems) taking.problem(row, problem);
    return record === undefined ? [] : [{ row, record }];
  });
  const newest = new Map<string, number>();
  for (const { record } of lines) newest.set(record.id, Math.max(newest.get(record.id) ?? 0, record.updatedAt));
  const latest = new Map(
    lines.filter(({ record }) => record.updatedAt === newest.get(record.id)).map((one) => [one.record.id, one]),
  );
  for (const one of lines) if (latest.get(one.record.id) !== one) taking.present();
  await takeTasks(
    taking,
    [...latest.values()].map(({ row, record }) => ({ row, ...seedsTask(record) })),
  );
}

export async function takeBeads(taking: Taking, rows: readonly EarlierRow[]): Promise<void> {
  const latest = new Map<string, EarlierTask & { readonly row: EarlierRow }>();
  for (const row of rows) {
    const read = taking.convert(row, beadsTask);
    if (read === undefined) continue;
    if (latest.has(read.task.id)) taking.present();
    latest.set(read.task.id, { ...read, row });
  }
  await takeTasks(taking, [...latest.values()]);
}

type RowTask = EarlierTask & { readonly row: EarlierRow };

async function takeTasks({ tx, take, present, problem }: Taking, tasks: readonly RowTask[]): Promise<void> {
  const known = new Set(await tx.tasks.ids());
  const fresh = tasks.filter(({ task }) => !known.has(task.id));
  for (const { task } of tasks) {
    if (known.has(task.id)) present();
    else {
      await tx.tasks.insert(task);
      take();
    }
  }
  const all = new Set([...known, ...fresh.map(({ task }) => task.id)]);
  const links: TaskDependency[] = await tx.tasks.dependencies();
  const has = ({ taskId, dependsOn }: TaskDependency): boolean =>
    links.some((link) => link.taskId === taskId && link.dependsOn === dependsOn);
  for (const { row, dependencies } of fresh) {
    for (const link of dependencies) {
      if (has(link)) continue;
      if (!all.has(link.taskId) || !all.has(link.dependsOn)) {
        problem(
          row,
          `says that ${link.taskId} waits for ${link.dependsOn}, and one of them is not there; that was left out`,
        );
      } else if (dependencyCycle([...links, link]) !== undefined) {
        problem(row, `says that ${link.taskId} waits for ${link.dependsOn}, which waits for it; that was left out`);
      } else {
        links.push(link);
        await tx.tasks.addDependency(link);
      }
    }
  }
}
