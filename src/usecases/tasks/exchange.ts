import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import { formatSeeds, mergeSeeds, parseSeeds, type SeedsRecord } from "../../domain/task/seeds.ts";
import type { UseCase } from "../usecase.ts";
import { detailsOf, type TaskDetail } from "./detail.ts";

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
  const { mergeState, claimedBy, claimExpires, parentId, files, runId: _, ...shared } = task;
  return { ...shared, blocks, blockedBy, own: { mergeState, claimedBy, claimExpires, parentId, files }, extra: {} };
}
