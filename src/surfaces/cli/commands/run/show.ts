import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { duration } from "../../format.ts";
import { text } from "../../given.ts";
import { hintLine } from "../../marks.ts";
import { agentJson, agentLine, runJson, runLines } from "./render.ts";

export const current: Handler = async ({ app, io }) => {
  const found = await app.call("run.current", {});
  if (!found.ok) return found;
  const detail = found.value.current;
  if (detail === null) {
    const message = "No run is active.";
    return ok({
      json: { run: null, message },
      text: `${message}\n${hintLine(io.paint, "start one: ov sling <task-id>")}`,
    });
  }
  return ok({
    json: { run: runJson(detail), duration: duration(detail.durationMs) },
    text: runLines(io.paint, detail).join("\n"),
  });
};

export const show: Handler = async ({ app, args, io }) => {
  const found = await app.call("run.show", { id: text(args["run-id"]) });
  if (!found.ok) return found;
  const { agents, ...detail } = found.value;
  const lines = [...runLines(io.paint, detail), ...agents.map((agent) => agentLine(io.paint, agent))];
  return ok({
    json: { run: runJson(detail), duration: duration(detail.durationMs), agents: agents.map(agentJson) },
    text: lines.join("\n"),
  });
};
