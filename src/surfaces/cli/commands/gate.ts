import { evidenceView, gateResultView } from "../../../contract/views/gate.ts";
import type { GateResult, GateStatus } from "../../../domain/gate/gate.ts";
import { ok } from "../../../domain/result.ts";
import { visibleLine, visibleText } from "../../../domain/text/visible.ts";
import type { ReceiptReply } from "../../../usecases/gates/read-gates.ts";
import { exits } from "../../shared/exits.ts";
import { elapsed, iso, shortTime } from "../../shared/format.ts";
import type { Handler, Paint, Rows } from "../command.ts";
import { integer, text, word } from "../given.ts";
import { errorLine, hintLine } from "../marks.ts";
import { table } from "../table.ts";
import { answerOutcome, leftCheck, untilAnswered } from "./done.ts";
import { paintedVerdict } from "./merge-render.ts";

export const list: Handler = async ({ app, flags, io }) => {
  const found = await app.call("gate.list", { gate: text(flags.gate), limit: integer(flags.limit) });
  if (!found.ok) return found;
  const { results } = found.value;
  const rows = resultRows(results);
  const nothing = `No gate has run yet.\n${hintLine(io.paint, "see which there are: ov config get project.qualityGates")}`;
  return ok({
    json: { results: results.map(gateResultView), count: results.length },
    text:
      results.length === 0
        ? nothing
        : table(
            resultRows(results, (at) => shortTime(at, Date.now())),
            io.paint,
          ),
    rows,
  });
};

/** The output as it came, with what a terminal would obey made visible. */
export const log: Handler = async ({ app, args, io }) => {
  const found = await app.call("gate.log", { id: word(args["result-id"]) });
  if (!found.ok) return found;
  const { result, path } = found.value;
  const read = await app.call("file.read", { path, at: "project" });
  if (!read.ok) return read;
  const output = read.value.text;
  if (output === undefined) {
    return ok({
      json: { success: false, result: gateResultView(result), log: null, errorMessage: `${path} is gone` },
      text: errorLine(io.paint, `the output is no longer there: ${visibleLine(path)}`),
      exit: exits.notFound,
    });
  }
  return ok({ json: { result: gateResultView(result), log: output }, text: visibleText(output) });
};

export const show: Handler = async ({ app, args, io }) => {
  const found = await app.call("gate.receipt", { of: word(args.of) });
  if (!found.ok) return found;
  const { receipt, results } = found.value;
  return ok({
    json: evidenceView({ receipt, results }),
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

export const run: Handler = async ({ app, args, io }) => {
  const environment = await app.call("environment.captureForGates", {});
  if (!environment.ok) return environment;
  const ticket = await app.call("gate.run", { ref: text(args.ref), environment: environment.value });
  if (!ticket.ok) return ticket;
  const { id, attached } = ticket.value;
  const answer = await untilAnswered(app, io, id);
  if (!answer.ok) return answer;
  if (answer.value === undefined) return ok(leftCheck(id));
  const { refName, verdict } = answer.value.check;
  const yes =
    verdict === "unverified" ? `No gate failed on ${refName}, but none proved it.` : `The gates passed on ${refName}.`;
  return ok(answerOutcome(io.paint, answer.value, { yes, attached }));
};

export const verify: Handler = async ({ app, args, io }) => {
  const environment = await app.call("environment.captureForGates", {});
  if (!environment.ok) return environment;
  const asked = { receipt: word(args.receipt), environment: environment.value };
  const ticket = await app.call("gate.verify", asked);
  if (!ticket.ok) return ticket;
  const { id, attached } = ticket.value;
  const answer = await untilAnswered(app, io, id);
  if (!answer.ok) return answer;
  if (answer.value === undefined) return ok(leftCheck(id));
  const yes = `Reproduced: every gate of ${word(args.receipt)} ended as it did before.`;
  const outcome = answerOutcome(io.paint, answer.value, { yes, attached });
  const { verdict } = answer.value.check;
  return ok({ ...outcome, json: { ...outcome.json, result: verdict } });
};

/** `when` formats a time, for scripts or for a person. */
const resultRows = (results: readonly GateResult[], when: (at: number) => string = iso): Rows => ({
  columns: ["ID", "GATE", "STATUS", "EXIT", "TOOK", "TREE", "WHEN"],
  cells: results.map((result) => [
    result.id,
    result.gate,
    statusWords(result),
    result.exitCode === null ? "-" : String(result.exitCode),
    elapsed(result.durationMs),
    result.tree.slice(0, 10),
    when(result.createdAt),
  ]),
  objects: results.map(gateResultView),
});

/** One result on one line. */
export function resultLine(paint: Paint, result: GateResult): string {
  const exit = result.exitCode === null ? "" : `, exit ${result.exitCode}`;
  const status = paint[statusHues[result.status]](statusWords(result));
  return `  ${paint.accent(result.id)}  ${visibleLine(result.gate)}: ${status}${exit}, ${elapsed(result.durationMs)}  ${paint.dim(visibleLine(result.command))}`;
}

const statusWords = ({ status, flaky }: Pick<GateResult, "status" | "flaky">): string =>
  `${status.replaceAll("_", " ")}${flaky ? " when repeated" : ""}`;

const statusHues = {
  passed: "green",
  failed: "red",
  timed_out: "red",
  could_not_run: "yellow",
} as const satisfies Record<GateStatus, keyof Paint>;
