import { nearest } from "../../domain/name/nearest.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, flag, text, whole } from "../../domain/schema/schema.ts";
import { taskStatuses } from "../../domain/task/task.ts";
import type { UseCase } from "../usecase.ts";
import { detailOf, detailsOf, findTask, type TaskDetail, unclosedTasks } from "./task-detail.ts";

export interface ListTasksRequest {
  readonly status?: string | undefined;
  readonly runId?: string | undefined;
  readonly limit?: number | undefined;
  /** Closed ones too; without it and without a status they are left out. */
  readonly all?: boolean | undefined;
}

export interface TaskList {
  readonly tasks: readonly TaskDetail[];
}

/** Tasks by urgency, then age. */
export const listTasks: UseCase<ListTasksRequest, TaskList> = {
  kind: "read",
  request: fields({}, { status: text, runId: text, limit: whole, all: flag }),
  run: async (tx, _context, request) => {
    const { runId, limit } = request;
    const status = taskStatuses.find((known) => known === request.status);
    if (request.status !== undefined && status === undefined) {
      const near = nearest(request.status, taskStatuses);
      const extra = { value: request.status, allowed: taskStatuses, ...(near === undefined ? {} : { nearest: near }) };
      return no(invalid("status", "is not a status of a task", extra));
    }
    const tasks = await tx.tasks.list({
      ...(status === undefined ? { unclosed: request.all !== true } : { status }),
      ...(runId === undefined ? {} : { runId }),
      ...(limit === undefined ? {} : { limit }),
    });
    return ok({ tasks: await detailsOf(tx, tasks) });
  },
};

export const showTask: UseCase<{ readonly id: string }, TaskDetail> = {
  kind: "read",
  request: fields({ id: text }),
  run: async (tx, _context, { id }) => {
    const task = await findTask(tx, id);
    return task.ok ? ok(await detailOf(tx, task.value)) : task;
  },
};

/** Tasks that could be started now, most urgent first. */
export const listReady: UseCase<{ readonly limit?: number | undefined }, TaskList> = {
  kind: "read",
  request: fields({}, { limit: whole }),
  run: async (tx, _context, { limit }) => {
    const { ready } = await unclosedTasks(tx);
    return ok({ tasks: await detailsOf(tx, ready.slice(0, limit)) });
  },
};
