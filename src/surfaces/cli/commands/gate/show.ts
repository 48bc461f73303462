import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { ReceiptReply } from "../../../../usecases/gates/read-gates.ts";
import type { Handler, Paint } from "../../command.ts";
import { shortTime } from "../../format.ts";
import { word } from "../../given.ts";
import { hintLine } from "../../marks.ts";
import { paintedVerdict } from "../merge/render.ts";
import { receiptJson, resultJson, resultLine } from "./render.ts";

export const show: Handler = async ({ app, args, io }) => {
  const found = await app.call("gate.receipt", { of: word(args.of) });
  if (!found.ok) return found;
  const { receipt, results } = found.value;
  return ok({
    json: { receipt: receiptJson(receipt), results: results.map(resultJson) },
    text: page(io.paint, found.value),
    wraps: true,
  });
};

function page(paint: Paint, { receipt, results }: ReceiptReply): string {
  const fact = (name: string, value: string): string => `  ${paint.dim(name.padEnd(8))}  ${visibleLine(value)}`;
  return [
    `${paint.accent(receipt.id)}  ${receipt.kind} of ${visibleLine(receipt.subject)}  ${paintedVerdict(paint, receipt.verdict)}`,
    ...(receipt.baseCommit === null ? [] : [fact("base", receipt.baseCommit)]),
    fact("head", receipt.headCommit),
    fact("tree", receipt.tree),
    fact("recorded", shortTime(receipt.createdAt, Date.now())),
    ...receipt.gaps.map((gap) => fact("gap", gap)),
    ...results.flatMap((result) => [
      resultLine(paint, result),
      hintLine(paint, `  kept: ${result.kept.length === 0 ? "nothing" : result.kept.map(visibleLine).join(", ")}`),
      hintLine(paint, `  log: ${visibleLine(result.logPath)} (${result.logDigest})`),
    ]),
    ...(results.length === 0 ? [hintLine(paint, "no gate has looked at it")] : []),
  ].join("\n");
}
