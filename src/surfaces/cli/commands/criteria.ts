import { checklistView } from "../../../contract/views/run.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { runFlag } from "../../../domain/run/run.ts";
import type { ChecklistReply } from "../../../usecases/runs/criteria.ts";
import type { Handler, Outcome, Paint } from "../command.ts";
import { number, text, texts, word } from "../given.ts";
import { hintLine, successLine, warningLine } from "../marks.ts";
import { checklistLines } from "./operator-render.ts";

/** Shows the checklist of a run. */
export const list: Handler = async ({ app, flags, io }) => {
  const found = await app.call("criterion.list", { runId: text(flags.run) });
  if (!found.ok) return found;
  const lines = checklistLines(io.paint, found.value.criteria);
  const { run } = found.value;
  const add = `add to it: ov run criteria add "<criterion>"${runFlag(text(flags.run) ?? null)}`;
  const none = [`Run ${run.id} has no checklist.`, hintLine(io.paint, add)];
  return ok({
    json: checklistView(found.value),
    text: [...(lines.length === 0 ? none : lines), ...unservedLines(io.paint, found.value)].join("\n"),
  });
};

export const add: Handler = async ({ app, args, flags, io }) => {
  const added = await app.call("criterion.add", { texts: texts(args.text) ?? [], runId: text(flags.run) });
  return shown(io.paint, added, "Criteria of the run now:");
};

export const prove: Handler = async ({ app, args, flags, io }) => {
  const which = number("number", args.number);
  if (!which.ok) return which;
  const proved = await app.call("criterion.prove", {
    number: which.value,
    runId: text(flags.run),
    file: text(flags.file),
    test: text(flags.test),
    commit: text(flags.commit),
  });
  if (!proved.ok) return proved;
  const isWaived = proved.value.criteria.some(
    ({ criterion }) => criterion.number === which.value && criterion.waivedAt !== null,
  );
  const news = isWaived
    ? `Found on the landed tree; criterion ${which.value} is waived all the same (ov run criteria unwaive ${which.value}${runFlag(text(flags.run) ?? null)}).`
    : `Found on the landed tree; criterion ${which.value} is proved.`;
  return shown(io.paint, proved, news);
};

export const amend: Handler = async ({ app, args, flags, io }) => {
  const which = number("number", args.number);
  if (!which.ok) return which;
  const request = { number: which.value, text: word(args.text), runId: text(flags.run) };
  const amended = await app.call("criterion.amend", request);
  return shown(io.paint, amended, `Criterion ${which.value} has other words now.`);
};

export const waive: Handler = async ({ app, args, flags, io }) => {
  const which = number("number", args.number);
  if (!which.ok) return which;
  const request = { number: which.value, reason: word(flags.reason), runId: text(flags.run) };
  const waived = await app.call("criterion.waive", request);
  return shown(io.paint, waived, `Criterion ${which.value} is waived.`);
};

export const unwaive: Handler = async ({ app, args, flags, io }) => {
  const which = number("number", args.number);
  if (!which.ok) return which;
  const back = await app.call("criterion.unwaive", { number: which.value, runId: text(flags.run) });
  return shown(io.paint, back, `Criterion ${which.value} has to be met again.`);
};

function shown(paint: Paint, reply: Result<ChecklistReply, Refusal>, head: string): Result<Outcome, Refusal> {
  if (!reply.ok) return reply;
  const lines = [
    successLine(paint, head),
    ...checklistLines(paint, reply.value.criteria),
    ...unservedLines(paint, reply.value),
    ...reply.value.remarks.map((remark) => warningLine(paint, remark)),
  ];
  return ok({ json: checklistView(reply.value), text: lines.join("\n"), quietText: "" });
}

/** Said while the work is planned, so that no part of the objective is forgotten. */
function unservedLines(paint: Paint, { unserved, run }: ChecklistReply): readonly string[] {
  if (unserved.length === 0 || run.status !== "active") return [];
  return [
    warningLine(paint, `no task serves ${unserved.length === 1 ? "criterion" : "criteria"} ${unserved.join(", ")}`),
  ];
}
