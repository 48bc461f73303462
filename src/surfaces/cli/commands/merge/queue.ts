import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler } from "../../command.ts";
import { integer, isOn, text, texts, word } from "../../given.ts";
import { hintLine, successLine } from "../../marks.ts";
import { approvalHints, entryJson, entryLine, mergeRows, viewJson, viewLines } from "./render.ts";
import { requestFor, settleRest } from "./rest.ts";

export const add: Handler = async (call) => {
  const { app, args, flags, io } = call;
  const rest = await settleRest(call, [word(args.branch)]);
  if (!rest.ok) return rest;
  const more = { dependsOn: texts(flags["depends-on"]), priority: integer(flags.priority) };
  const request = await requestFor(app, word(args.branch), text(flags.into), more);
  if (!request.ok) return request;
  const reply = await app.call("merge.add", request.value);
  if (!reply.ok) return reply;
  const { entry, added } = reply.value;
  const head = added
    ? successLine(io.paint, `Queued as merge ${entry.id}:`, visibleLine(entry.branch))
    : `${io.paint.accent(visibleLine(entry.branch))} had its place already`;
  return ok({
    json: { entry: entryJson(entry), added },
    text: [head, entryLine(io.paint, entry), ...approvalHints(io.paint, [entry])].join("\n"),
    quietText: String(entry.id),
  });
};

export const list: Handler = async ({ app, flags, io }) => {
  const found = await app.call("merge.list", {
    status: text(flags.status),
    runId: text(flags.run),
    all: isOn(flags.all),
    limit: integer(flags.limit),
  });
  if (!found.ok) return found;
  const { entries } = found.value;
  const rows = mergeRows(entries);
  const nothing = `Nothing is on its way.\n${hintLine(io.paint, "see what has landed: ov merge log")}`;
  const full = [
    ...entries.flatMap((view) => viewLines(io.paint, view)),
    ...approvalHints(
      io.paint,
      entries.map(({ entry }) => entry),
    ),
  ];
  return ok({
    json: { entries: entries.map(viewJson), count: entries.length },
    text: entries.length === 0 ? nothing : full.join("\n"),
    rows,
  });
};
