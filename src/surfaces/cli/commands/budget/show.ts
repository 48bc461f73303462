import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { BudgetView } from "../../../../usecases/budgets/show-budgets.ts";
import type { Handler, Paint, Rows } from "../../command.ts";
import { hintLine } from "../../marks.ts";
import { table } from "../../table.ts";
import { amount } from "./render.ts";

export const show: Handler = async ({ app, io }) => {
  const found = await app.call("budget.show", {});
  if (!found.ok) return found;
  const { budgets } = found.value;
  const rows: Rows = {
    columns: ["SCOPE", "SUBJECT", "UNIT", "LIMIT", "SPENT", "RESERVED", "USED", "PARKED"],
    cells: budgets.map(cells),
    objects: budgets,
  };
  const limited = budgets.filter(({ limit, parked }) => limit !== null || parked.length > 0);
  const left = budgets.length - limited.length;
  const hint = hintLine(io.paint, "what was spent where no limit is set: ov budget --format table");
  const shown = [table({ ...rows, cells: limited.map(cells) }, io.paint), ...(left === 0 ? [] : [hint])].join("\n");
  return ok({ json: { budgets }, text: limited.length === 0 ? withoutLimits(budgets, io.paint) : shown, rows });
};

/** Rows of dashes tell nothing: what each run has spent, and how to set a limit. */
function withoutLimits(budgets: readonly BudgetView[], paint: Paint): string {
  const runs = new Set(budgets.filter(({ scope }) => scope === "run").map(({ subject }) => subject));
  const spent = [...runs].map((run) => {
    const ofRun = budgets.filter(({ scope, subject }) => scope === "run" && subject === run);
    const words = ofRun.map(({ unit, spent: sum, reported }) => `${reported ? amount(unit, sum) : "n/a"} ${unit}`);
    return `  ${visibleLine(run)} has used ${words.join(", ")}`;
  });
  const hint = hintLine(paint, "set one: ov config set budgets.run.usd 20");
  return ["No limit is set.", ...(spent.length === 0 ? ["  Nothing was spent yet."] : spent), hint].join("\n");
}

function cells({ scope, subject, unit, limit, spent, reserved, percent, reported, parked }: BudgetView): string[] {
  return [
    scope,
    subject,
    unit,
    limit === null ? "-" : amount(unit, limit),
    reported ? amount(unit, spent) : "n/a",
    amount(unit, reserved),
    percent === null ? "-" : `${percent}%`,
    parked.length === 0 ? "-" : parked.join(", "),
  ];
}
