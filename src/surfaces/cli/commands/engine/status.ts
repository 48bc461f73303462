import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler } from "../../command.ts";
import type { EngineReport } from "../../facets/engine.ts";
import { duration } from "../../format.ts";
import { workLine } from "./render.ts";

export const status: Handler = async ({ app }) => {
  const report = await (await app.engineControl()).status();
  const log = report.log === null ? [] : [`Log: ${visibleLine(report.log)}`];
  return ok({ json: { ...report }, text: [headline(report), workLine(report), ...log].join("\n") });
};

function headline({ running, answers, pid, version, uptimeMs, socket }: EngineReport): string {
  if (!running) return "Engine: not running";
  const line = `Engine: pid ${pid}, version ${version}, up ${duration(uptimeMs ?? 0)}, socket ${socket}`;
  if (answers !== false) return line;
  return `${line}\nIt does not answer: its process may be stopped or frozen. Replace it with: ov engine start`;
}
