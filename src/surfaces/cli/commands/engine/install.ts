import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler } from "../../command.ts";
import { isOn } from "../../given.ts";
import { hintLine, successLine } from "../../marks.ts";

export const install: Handler = async ({ app, flags, io }) => {
  const print = isOn(flags.print);
  const done = await app.call("engine.install", { print });
  if (!done.ok) return done;
  const { path, text, written, enable } = done.value;
  if (print) return ok({ json: { ...done.value }, text });
  const head = successLine(io.paint, written ? "Wrote" : "Already there:", visibleLine(path));
  const next = [
    `Switch it on: ${enable}`,
    hintLine(io.paint, "to have it run before you log in: loginctl enable-linger"),
  ];
  return ok({ json: { ...done.value }, text: [head, ...next].join("\n"), quietText: path });
};
