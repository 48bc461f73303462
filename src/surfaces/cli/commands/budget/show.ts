import { ok } from "../../../../domain/result.ts";
import type { BudgetView } from "../../../../usecases/budgets/show-budgets.ts";
import type { Handler, Rows } from "../../command.ts";
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
  const limited = budgets.some(({ limit }) => limit !== null);
  const hint = limited ? [] : [hintLine(io.paint, "no limit is set; set one: ov config set budgets.run.usd 20")];
  const text = [budgets.length === 0 ? "Nothing was spent yet." : table(rows, io.paint), ...hint].join("\n");
  return ok({ json: { budgets }, text, rows });
};

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
