import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler } from "../../command.ts";
import { hintLine, successLine } from "../../marks.ts";
import { text, word } from "../task/given.ts";

export const decide: Handler = async ({ app, args, flags, io }) => {
  const decided = await app.call("operator.decide", {
    id: word(args.id),
    option: word(args.option),
    note: text(flags.note),
  });
  if (!decided.ok) return decided;
  const { id, kind, option, messageId, to, woken } = decided.value;
  return ok({
    json: { id, kind, option, messageId, to, woken },
    text: [
      successLine(io.paint, `Decided: ${visibleLine(option)}`, id),
      ...(to === null ? [] : [hintLine(io.paint, `${visibleLine(to)} gets it as mail`)]),
      ...(kind === "merge" ? [hintLine(io.paint, "see what becomes of it: ov merge list")] : []),
    ].join("\n"),
    quietText: messageId ?? "",
  });
};
