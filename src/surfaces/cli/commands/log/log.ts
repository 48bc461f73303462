import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { hookEvents } from "./hook-events.ts";

export const log: Handler = async ({ app, args, flags }) => {
  const event = args.event as keyof typeof hookEvents;
  const reply = await app.call("event.record", {
    type: hookEvents[event],
    ...(typeof flags.agent === "string" ? { agent: flags.agent } : {}),
    ...(typeof flags["tool-name"] === "string" ? { data: { tool: flags["tool-name"] } } : {}),
  });
  return reply.ok ? ok({ json: { event }, text: "" }) : reply;
};
