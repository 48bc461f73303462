import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { successLine } from "../../marks.ts";

export const start: Handler = async ({ app, io }) => {
  const started = await app.call("engine.start", {});
  if (!started.ok) return started;
  const { pid } = started.value;
  const words = started.value.started ? "Engine started, pid" : "Engine is running, pid";
  return ok({ json: { ...started.value }, text: successLine(io.paint, words, String(pid)), quietText: String(pid) });
};
