import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { word } from "../../given.ts";
import { hintLine } from "../../marks.ts";
import { messageJson, messageLines } from "./render.ts";

export const read: Handler = async ({ app, args, io }) => {
  const marked = await app.call("mail.read", { id: word(args.id) });
  if (!marked.ok) return marked;
  const { id, alreadyRead, message } = marked.value;
  const answer = message.type === "question" || message.type === "decision_gate";
  return ok({
    json: { id, alreadyRead, message: messageJson(message) },
    text: [
      ...messageLines(io.paint, message),
      ...(answer ? [hintLine(io.paint, `answer it: ov mail reply ${id} --body "<answer>"`)] : []),
    ].join("\n"),
    wraps: true,
    quietText: "",
  });
};
