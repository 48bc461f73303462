import { ok } from "../../../domain/result.ts";
import type { Handler } from "../command.ts";
import { isOn } from "../given.ts";
import { hintLine, successLine } from "../marks.ts";

export const install: Handler = async ({ app, flags, io }) => {
  const done = await app.call("hooks.install", { force: isOn(flags.force) });
  if (!done.ok) return done;
  const { path, changed } = done.value;
  const text = changed
    ? [successLine(io.paint, "Installed in", path), hintLine(io.paint, "They count from your next session on.")]
    : [`The hooks are in ${path} already.`];
  return ok({ json: { ...done.value, installed: true }, text: text.join("\n"), quietText: "" });
};

export const status: Handler = async ({ app, io }) => {
  const found = await app.call("hooks.status", {});
  if (!found.ok) return found;
  const { path, sourceExists, installed, missing } = found.value;
  const text = installed
    ? [`Installed in ${path}.`]
    : [`Not installed in ${path}: ${missing.join(", ")} missing.`, hintLine(io.paint, "ov hooks install")];
  return ok({ json: { sourceExists, installed }, text: text.join("\n") });
};

export const uninstall: Handler = async ({ app, io }) => {
  const done = await app.call("hooks.uninstall", {});
  if (!done.ok) return done;
  const { path, changed } = done.value;
  const text = changed ? successLine(io.paint, "Uninstalled from", path) : "No hooks of ours are installed.";
  return ok({ json: { ...done.value, installed: false }, text, quietText: "" });
};
