import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { successLine } from "../../marks.ts";

export const complete: Handler = async ({ app, flags, io }) => {
  const completed = await app.call("run.complete", { force: flags.force === true });
  if (!completed.ok) return completed;
  const { runId, status } = completed.value;
  return ok({ json: { runId, status }, text: successLine(io.paint, "Run completed", runId), quietText: runId });
};
