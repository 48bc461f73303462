import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { isOn, text } from "../../given.ts";
import { hookEvents } from "./hook-events.ts";

export const log: Handler = async ({ app, args, flags, io }) => {
  const event = args.event as keyof typeof hookEvents;
  const told = isOn(flags.stdin) ? (await app.hookFormat()).read(await io.stdin()) : undefined;
  const seen = {
    ...told,
    tool: told?.tool ?? text(flags["tool-name"]) ?? null,
    transcript: told?.transcript ?? text(flags.transcript) ?? null,
  };
  const agent = text(flags.agent);
  const about = agent === undefined ? {} : { agent };
  const reply = await app.call("event.record", { event: hookEvents[event], seen, ...about });
  return reply.ok ? ok({ json: { event }, text: "" }) : reply;
};
