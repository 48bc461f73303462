import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler } from "../../command.ts";
import { word } from "../../given.ts";
import { hintLine } from "../../marks.ts";

export const why: Handler = async ({ app, args, io }) => {
  const engineRunning = app.engine.status() !== undefined;
  const explained = await app.call("mail.why", { id: word(args.id), engineRunning });
  if (!explained.ok) return explained;
  const { id, recipients } = explained.value;
  const lines = recipients.flatMap(({ to, sentence, next }) => [
    `${io.paint.bold(visibleLine(to))}: ${visibleLine(sentence)}`,
    ...(next === null ? [] : [hintLine(io.paint, visibleLine(next))]),
  ]);
  return ok({ json: { id, recipients }, text: lines.join("\n") });
};
