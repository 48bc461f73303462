import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { successLine } from "../../marks.ts";
import { word } from "../task/given.ts";

export const read: Handler = async ({ app, args, io }) => {
  const marked = await app.call("mail.read", { id: word(args.id) });
  if (!marked.ok) return marked;
  const { id, alreadyRead } = marked.value;
  const line = alreadyRead ? `${io.paint.accent(id)} was already read.` : successLine(io.paint, "Marked read:", id);
  return ok({ json: { id, alreadyRead }, text: line, quietText: "" });
};
