import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { successLine } from "../../marks.ts";
import { isOn, word } from "../task/given.ts";

export const attach: Handler = async ({ app, args, flags, io }) => {
  const name = word(args.agent);
  const onWaiting = (turnId: string): void => io.say(`Waiting for ${name} to end its turn (${turnId}) ...`);
  const done = await (await app.attacher()).attach({ name, interrupt: isOn(flags.interrupt), onWaiting });
  if (!done.ok) return done;
  const { agentName, exitCode, signal } = done.value;
  const how = exitCode === 0 ? "" : signal === null ? ` (its program exited ${exitCode})` : ` (ended by ${signal})`;
  const text = `${successLine(io.paint, "Handed back", agentName)}${how}`;
  return ok({ json: { ...done.value }, text, quietText: "" });
};
