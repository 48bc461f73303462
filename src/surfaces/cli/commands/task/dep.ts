import { ok } from "../../../../domain/result.ts";
import type { DependencyReply } from "../../../../usecases/tasks/change-dependency.ts";
import type { Call, Handler, Outcome } from "../../command.ts";
import { word } from "../../given.ts";
import { successLine } from "../../marks.ts";
import { taskJson } from "./render.ts";

export const add: Handler = async (call) => {
  const ends = endsOf(call);
  const added = await call.app.call("task.addDependency", ends);
  if (!added.ok) return added;
  const { changed } = added.value;
  const words = changed ? "now waits for" : "already waits for";
  return ok(outcome(call, added.value, `${ends.taskId} ${words} ${ends.dependsOn}`));
};

export const rm: Handler = async (call) => {
  const ends = endsOf(call);
  const removed = await call.app.call("task.removeDependency", ends);
  if (!removed.ok) return removed;
  const { changed } = removed.value;
  const words = changed ? "no longer waits for" : "did not wait for";
  return ok(outcome(call, removed.value, `${ends.taskId} ${words} ${ends.dependsOn}`));
};

const endsOf = ({ args }: Call) => ({ taskId: word(args["task-id"]), dependsOn: word(args["depends-on"]) });

function outcome({ io }: Call, reply: DependencyReply, sentence: string): Outcome {
  const json = { task: taskJson(reply), changed: reply.changed };
  return { json, text: successLine(io.paint, sentence), quietText: "" };
}
