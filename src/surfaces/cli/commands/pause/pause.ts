import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { isOn, word } from "../../given.ts";
import { hintLine, successLine } from "../../marks.ts";

export const pause: Handler = async ({ app, args, flags, io }) => {
  const done = await app.call("agent.pause", { name: word(args.agent), tree: isOn(flags.tree) });
  if (!done.ok) return done;
  const { paused, alreadyPaused, running } = done.value;
  const lines = [
    ...paused.map((name) => successLine(io.paint, "Paused", name)),
    ...alreadyPaused.map((name) => `${io.paint.accent(name)} was paused before`),
    ...running.map((name) => hintLine(io.paint, `${name} finishes the turn that is running`)),
  ];
  return ok({ json: { ...done.value }, text: lines.join("\n"), quietText: "" });
};
