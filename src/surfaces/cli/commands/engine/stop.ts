import { ok } from "../../../../domain/result.ts";
import type { EngineStop } from "../../../../usecases/engine/control.ts";
import { exits } from "../../../shared/exits.ts";
import type { Handler, Paint } from "../../command.ts";
import { successLine, warningLine } from "../../marks.ts";

export const stop: Handler = async ({ app, io }) => {
  const done = await app.call("engine.stop", {});
  if (!done.ok) return done;
  const { stopped, runningTurns } = done.value;
  if (runningTurns > 0) io.warn(`turns that go on: ${runningTurns}; when one of them ends, an engine starts again`);
  const exit = stopped ? exits.ok : exits.timeout;
  return ok({ json: { ...done.value }, text: line(io.paint, done.value), quietText: "", exit });
};

function line(paint: Paint, { wasRunning, stopped, pid }: EngineStop): string {
  if (!wasRunning) return "No engine is running.";
  if (stopped) return successLine(paint, "Engine stopped, pid", String(pid));
  return warningLine(paint, `engine ${pid} was asked to leave but is still there`, "ov engine status");
}
