import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler } from "../../command.ts";
import { isOn, word } from "../../given.ts";
import { hintLine, successLine } from "../../marks.ts";

export const resume: Handler = async ({ app, args, flags, io }) => {
  const done = await app.call("agent.resume", { name: word(args.agent), tree: isOn(flags.tree) });
  if (!done.ok) return done;
  const { resumed, waiting, queued } = done.value;
  const lines = [
    ...resumed.map((name) => successLine(io.paint, queued.includes(name) ? "Resumed, with a turn:" : "Resumed", name)),
    ...waiting.flatMap(({ name, reason, until, next }) => [
      `${io.paint.accent(name)} was not changed: ${visibleLine(reason)}${until === null ? "" : `, until ${iso(until)}`}`,
      ...(next === null ? [] : [hintLine(io.paint, visibleLine(next))]),
    ]),
  ];
  return ok({ json: { ...done.value }, text: lines.join("\n"), quietText: "" });
};

const iso = (time: number): string => new Date(time).toISOString();
