import { ok } from "../../../../domain/result.ts";
import { visibleText } from "../../../../domain/text/visible.ts";
import type { Handler } from "../../command.ts";
import { iso } from "../../format.ts";
import { word } from "../../given.ts";

export const read: Handler = async ({ app, args }) => {
  const found = await app.call("spec.read", { taskId: word(args["task-id"]) });
  if (!found.ok) return found;
  const { updatedAt, ...spec } = found.value;
  return ok({ json: { ...spec, updatedAt: iso(updatedAt) }, text: visibleText(spec.text) });
};
