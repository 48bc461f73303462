import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { EngineReport } from "../../../../usecases/engine/control.ts";
import type { Handler } from "../../command.ts";
import { duration } from "../../format.ts";
import { workLine } from "./render.ts";

export const status: Handler = async ({ app }) => {
  const found = await app.call("engine.status", {});
  if (!found.ok) return found;
  const report = found.value;
  const log = report.log === null ? [] : [`Log: ${visibleLine(report.log)}`];
  return ok({ json: { ...report }, text: [headline(report), workLine(report), ...log].join("\n") });
};

function headline({ running, answers, pid, version, uptimeMs, socket }: EngineReport): string {
  if (!running) return "Engine: not running";
  const line = `Engine: pid ${pid}, version ${version}, up ${duration(uptimeMs ?? 0)}, socket ${socket}`;
  if (answers !== false) return line;
  return `${line}\nIt does not answer: its process may be stopped or frozen. Replace it with: ov engine start`;
}
