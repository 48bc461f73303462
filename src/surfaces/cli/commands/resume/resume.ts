import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { successLine } from "../../marks.ts";
import { isOn, word } from "../task/given.ts";

export const resume: Handler = async ({ app, args, flags, io }) => {
  const done = await app.call("agent.resume", { name: word(args.agent), tree: isOn(flags.tree) });
  if (!done.ok) return done;
  const { resumed, unchanged, queued } = done.value;
  const lines = [
    ...resumed.map((name) => successLine(io.paint, queued.includes(name) ? "Resumed, with a turn:" : "Resumed", name)),
    ...unchanged.map((name) => `${io.paint.accent(name)} was not changed`),
  ];
  return ok({ json: { ...done.value }, text: lines.join("\n"), quietText: "" });
};
