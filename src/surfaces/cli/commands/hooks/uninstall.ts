import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { successLine } from "../../marks.ts";

export const uninstall: Handler = async ({ app, io }) => {
  const done = await app.call("hooks.uninstall", {});
  if (!done.ok) return done;
  const { path, changed } = done.value;
  const text = changed ? successLine(io.paint, "Uninstalled from", path) : "No hooks of ours are installed.";
  return ok({ json: { ...done.value, installed: false }, text, quietText: "" });
};
