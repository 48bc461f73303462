import { ok } from "../../../domain/result.ts";
import type { ToolHandler } from "../tool-call.ts";

export const checkpoint: ToolHandler = async (given, { app }) => {
  const noted = await app.call("agent.checkpoint", {
    progress: given.text("progress"),
    pending: given.optionalText("pending"),
  });
  return noted.ok ? ok({ text: "Noted.", data: { agentName: noted.value.agentName } }) : noted;
};
