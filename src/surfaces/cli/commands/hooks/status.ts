import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { hintLine } from "../../marks.ts";

export const status: Handler = async ({ app, io }) => {
  const found = await app.call("hooks.status", {});
  if (!found.ok) return found;
  const { path, sourceExists, installed, missing } = found.value;
  const text = installed
    ? [`Installed in ${path}.`]
    : [`Not installed in ${path}: ${missing.join(", ")} missing.`, hintLine(io.paint, "ov hooks install")];
  return ok({ json: { sourceExists, installed }, text: text.join("\n") });
};
