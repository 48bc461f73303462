import { ok } from "../../../../domain/result.ts";
import type { GroupStatus } from "../../../../usecases/groups/read-groups.ts";
import type { Handler, Paint } from "../../command.ts";
import { text } from "../../given.ts";
import { groupJson, groupTitle } from "./render.ts";

export const status: Handler = async ({ app, args, io }) => {
  const named = text(args.group);
  const found = await app.call("group.status", { group: named });
  if (!found.ok) return found;
  const { groups } = found.value;
  const [only] = groups;
  const lines = groups.map((entry) => statusLines(io.paint, entry));
  return ok({
    json: named !== undefined && only !== undefined ? statusJson(only) : { groups: groups.map(statusJson) },
    text: lines.length === 0 ? "No active groups." : lines.join("\n"),
  });
};

const statusJson = (entry: GroupStatus): Readonly<Record<string, unknown>> => ({
  group: groupJson(entry),
  ...entry.progress,
});

function statusLines(paint: Paint, entry: GroupStatus): string {
  const { total, completed, inProgress, blocked, open } = entry.progress;
  const counts = `${completed}/${total} closed, ${inProgress} in progress, ${blocked} blocked, ${open} open`;
  return `${groupTitle(paint, entry)}\n  ${counts}`;
}
