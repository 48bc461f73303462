import { metricsView } from "../../../contract/views/cost.ts";
import { ok } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { SessionCost } from "../../../usecases/costs/list-costs.ts";
import type { CapabilityMetrics, Metrics } from "../../../usecases/costs/metrics.ts";
import { duration } from "../../shared/format.ts";
import type { Handler, Paint, Rows } from "../command.ts";
import { integer } from "../given.ts";
import { table } from "../table.ts";
import { namedSession } from "./costs.ts";

const defaultCount = 20;

/** How the newest agents fared. */
export const metrics: Handler = async ({ app, flags, io }) => {
  const found = await app.call("cost.summarize", { last: integer(flags.last) ?? defaultCount });
  if (!found.ok) return found;
  const json = metricsView(found.value);
  const rows: Rows = {
    columns: ["AGENT", "CAPABILITY", "TASK", "STATE", "DURATION", "GATES", "MERGED"],
    cells: found.value.sessions.map(cells),
    objects: json.sessions,
    optional: ["CAPABILITY", "DURATION", "TASK"],
  };
  const text = rows.cells.length === 0 ? "No turn has settled yet." : lines(io.paint, found.value, rows).join("\n");
  return ok({ json, text, rows });
};

function lines(paint: Paint, metrics: Metrics, rows: Rows): readonly string[] {
  const fact = (name: string, value: string): string => `  ${paint.dim(name.padEnd(12))}  ${visibleLine(value)}`;
  const counted = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(", ") || "none";
  return [
    paint.bold(`The newest ${metrics.total === 1 ? "agent" : `${metrics.total} agents`}`),
    fact("ended", `${metrics.completed} of ${metrics.total}`),
    fact("average", average(metrics.averageDurationMs)),
    fact("merged", counted(metrics.mergeTiers)),
    fact("gates", counted(metrics.gates)),
    paint.bold("By capability"),
    ...metrics.byCapability.map((one) => fact(one.capability, ofCapability(one))),
    "",
    table(rows, paint),
  ];
}

const average = (ms: number | null): string => (ms === null ? "n/a" : duration(ms));

const ofCapability = ({ total, completed, averageDurationMs }: CapabilityMetrics): string =>
  `${total}, ${completed} ended, ${average(averageDurationMs)} on average`;

const cells = (session: SessionCost): string[] => [
  namedSession(session),
  session.capability,
  session.taskId ?? "-",
  session.status ?? "-",
  duration(session.durationMs),
  session.gates ?? "-",
  session.mergeTier ?? "-",
];
