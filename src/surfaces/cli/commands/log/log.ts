import { ok } from "../../../../domain/result.ts";
import { shortened } from "../../../../domain/text/sizes.ts";
import type { Handler } from "../../command.ts";
import { isOn, text } from "../task/given.ts";
import { hookEvents } from "./hook-events.ts";

export const log: Handler = async ({ app, args, flags, io }) => {
  const event = args.event as keyof typeof hookEvents;
  const told = isOn(flags.stdin) ? (await app.hookFormat()).read(await io.stdin()) : undefined;
  const data = {
    ...given("tool", told?.tool ?? text(flags["tool-name"])),
    ...given("sessionId", told?.sessionId),
    ...given("transcript", told?.transcript ?? text(flags.transcript)),
    ...(told?.toolInput === undefined ? {} : { input: shortened(told.toolInput, mostInputChars) }),
  };
  const reply = await app.call("event.record", {
    type: hookEvents[event],
    ...given("agent", text(flags.agent)),
    data,
  });
  return reply.ok ? ok({ json: { event }, text: "" }) : reply;
};

/** As of the tools of an agent's turn: the beginning tells what was done. */
const mostInputChars = 4_000;

const given = <K extends string>(key: K, value: string | null | undefined): { [key in K]?: string } =>
  value === null || value === undefined ? {} : ({ [key]: value } as { [key in K]?: string });
