import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, oneOf, text } from "../../domain/schema/schema.ts";
import { type BoardColumn, boardColumns, boardMove } from "../../domain/task/board.ts";
import type { UseCase } from "../usecase.ts";
import { reopenTask, updateTask } from "./change-tasks.ts";
import { closeTask } from "./close-task.ts";
import { detailOf, findTask, type TaskDetail } from "./task-detail.ts";

export interface MoveTaskRequest {
  readonly id: string;
  readonly to: BoardColumn;
}

/** Moves a task on the board, where a person may: all other places are reached by the work of agents. */
export const moveTask: UseCase<MoveTaskRequest, TaskDetail> = {
  kind: "write",
  request: fields({ id: text, to: oneOf(boardColumns) }),
  operatorOnly: true,
  run: async (tx, context, { id, to }) => {
    const found = await findTask(tx, id);
    if (!found.ok) return found;
    const { task, waitsFor } = await detailOf(tx, found.value);
    const move = boardMove(task, waitsFor, to);
    if ("whyNot" in move) return no(invalid("to", `cannot be reached by hand: ${move.whyNot}`, { value: to }));
    if (move.verb === "close") return closeTask.run(tx, context, { id });
    if (move.verb === "reopen") return reopenTask.run(tx, context, { id });
    const status = move.verb === "block" ? "blocked" : "open";
    const changed = await updateTask.run(tx, context, { id, status });
    return changed.ok ? ok(changed.value) : changed;
  },
};
