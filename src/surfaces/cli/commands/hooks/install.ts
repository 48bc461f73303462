import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { isOn } from "../../given.ts";
import { hintLine, successLine } from "../../marks.ts";

export const install: Handler = async ({ app, flags, io }) => {
  const done = await app.call("hooks.install", { force: isOn(flags.force) });
  if (!done.ok) return done;
  const { path, changed } = done.value;
  const text = changed
    ? [successLine(io.paint, "Installed in", path), hintLine(io.paint, "They count from your next session on.")]
    : [`The hooks are in ${path} already.`];
  return ok({ json: { ...done.value, installed: true }, text: text.join("\n"), quietText: "" });
};
