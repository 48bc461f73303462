import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler } from "../../command.ts";
import { word } from "../../given.ts";
import { hintLine, successLine, warningLine } from "../../marks.ts";
import { amount } from "./render.ts";

export const raise: Handler = async ({ app, args, io }) => {
  const typed = word(args.amount).trim();
  const raised = await app.call("budget.raise", {
    scope: word(args.scope),
    subject: word(args.subject),
    unit: word(args.unit),
    amount: /^\d+(\.\d+)?$/.test(typed) ? Number(typed) : Number.NaN,
  });
  if (!raised.ok) return raised;
  const { scope, subject, unit, limit, spent, resumed, parked, exhausted } = raised.value;
  const balance = `${amount(unit, spent)} of ${amount(unit, limit)} ${unit} spent`;
  const lines = [successLine(io.paint, `Raised: ${scope} ${visibleLine(subject)}, ${balance}`)];
  if (resumed.length > 0) lines.push(hintLine(io.paint, `goes on: ${resumed.join(", ")}`));
  if (exhausted) lines.push(warningLine(io.paint, "more than that is already spent", "raise it further"));
  else if (parked.length > 0) lines.push(hintLine(io.paint, `waits for running turns: ${parked.join(", ")}`));
  return ok({ json: { ...raised.value }, text: lines.join("\n"), quietText: resumed.join("\n") });
};
