import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler } from "../../command.ts";
import { word } from "../../given.ts";
import { successLine } from "../../marks.ts";

export const retry: Handler = async ({ app, args, io }) => {
  const retried = await app.call("mail.retry", { id: word(args.id) });
  if (!retried.ok) return retried;
  const { id, requeued } = retried.value;
  const line = successLine(io.paint, `Queued again for ${requeued.map(visibleLine).join(", ")}:`, id);
  return ok({ json: { id, requeued }, text: line, quietText: "" });
};
