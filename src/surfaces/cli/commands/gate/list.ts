import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { shortTime } from "../../format.ts";
import { integer, text } from "../../given.ts";
import { hintLine } from "../../marks.ts";
import { table } from "../../table.ts";
import { resultJson, resultRows } from "./render.ts";

export const list: Handler = async ({ app, flags, io }) => {
  const found = await app.call("gate.list", { gate: text(flags.gate), limit: integer(flags.limit) });
  if (!found.ok) return found;
  const { results } = found.value;
  const rows = resultRows(results);
  const nothing = `No gate has run yet.\n${hintLine(io.paint, "see which there are: ov config get project.qualityGates")}`;
  return ok({
    json: { results: results.map(resultJson), count: results.length },
    text:
      results.length === 0
        ? nothing
        : table(
            resultRows(results, (at) => shortTime(at, Date.now())),
            io.paint,
          ),
    rows,
  });
};
