import { ok } from "../../../../domain/result.ts";
import type { Handler, Rows } from "../../command.ts";
import { duration, iso, shortTime } from "../../format.ts";
import { integer } from "../../given.ts";
import { table } from "../../table.ts";
import { runJson } from "./render.ts";

const defaultCount = 10;

export const list: Handler = async ({ app, flags, io }) => {
  const found = await app.call("run.list", { last: integer(flags.last) ?? defaultCount });
  if (!found.ok) return found;
  const runs = found.value.runs.map((detail) => ({ ...runJson(detail), duration: duration(detail.durationMs) }));
  const rows: Rows = {
    columns: ["ID", "STATUS", "STARTED", "DURATION", "AGENTS", "OBJECTIVE"],
    cells: found.value.runs.map(({ run, agentCount, durationMs, status }) => [
      run.id,
      status,
      iso(run.startedAt) ?? "",
      duration(durationMs),
      String(agentCount),
      run.objective ?? "-",
    ]),
    objects: runs,
  };
  // A person reads a short local time; scripts get the whole one.
  const shown = found.value.runs.map(
    ({ run }, i) => rows.cells[i]?.with(2, shortTime(run.startedAt, Date.now())) ?? [],
  );
  const text = runs.length === 0 ? "No runs yet." : table({ ...rows, cells: shown }, io.paint);
  return ok({ json: { runs }, text, rows });
};
