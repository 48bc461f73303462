import { budgetView, raisedBudgetView } from "../../../contract/views/project.ts";
import { type BudgetUnit, dollars } from "../../../domain/budget/budget.ts";
import { invalid } from "../../../domain/refusal.ts";
import { no, ok } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { BudgetStanding } from "../../../usecases/budgets/show-budgets.ts";
import type { Handler, Paint, Rows } from "../command.ts";
import { word } from "../given.ts";
import { hintLine, successLine, warningLine } from "../marks.ts";
import { table } from "../table.ts";

export const show: Handler = async ({ app, io }) => {
  const found = await app.call("budget.show", {});
  if (!found.ok) return found;
  const { budgets } = found.value;
  const objects = budgets.map(budgetView);
  const rows: Rows = {
    columns: ["SCOPE", "SUBJECT", "UNIT", "LIMIT", "SPENT", "RESERVED", "USED", "PARKED"],
    cells: budgets.map(cells),
    objects,
  };
  const limited = budgets.filter(({ limit, parked }) => limit !== null || parked.length > 0);
  const left = budgets.length - limited.length;
  const hint = hintLine(io.paint, "what was spent where no limit is set: ov budget --format table");
  const lines = [table({ ...rows, cells: limited.map(cells) }, io.paint), ...unpricedHint(limited, io.paint)];
  const shown = [...lines, ...(left === 0 ? [] : [hint])].join("\n");
  return ok({
    json: { budgets: objects },
    text: limited.length === 0 ? withoutLimits(budgets, io.paint) : shown,
    rows,
  });
};

/** A limit in dollars does not count unknown costs. */
function unpricedHint(limited: readonly BudgetStanding[], paint: Paint): string[] {
  const turns = limited.filter(({ unit, limit }) => unit === "usd" && limit !== null).map(({ unpriced }) => unpriced);
  if (!turns.some((count) => count > 0)) return [];
  const why = "n/a: nobody knows what some turns cost, and limits in dollars do not count them; limits of tokens hold";
  return [hintLine(paint, `${why}; the prices: ov prices show`)];
}

/** Rows of dashes tell nothing: what each run has spent, and how to set a limit. */
function withoutLimits(budgets: readonly BudgetStanding[], paint: Paint): string {
  const runs = new Set(budgets.filter(({ scope }) => scope === "run").map(({ subject }) => subject));
  const spent = [...runs].map((run) => {
    const ofRun = budgets.filter(({ scope, subject }) => scope === "run" && subject === run);
    const words = ofRun.map((standing) => `${spentIn(standing)} ${standing.unit}`);
    return `  ${visibleLine(run)} has used ${words.join(", ")}`;
  });
  const hint = hintLine(paint, "set one: ov config set budgets.run.usd 20");
  return ["No limit is set.", ...(spent.length === 0 ? ["  Nothing was spent yet."] : spent), hint].join("\n");
}

/** An unknown amount is never shown as nothing. */
function spentIn({ unit, spent, reported, unpriced }: BudgetStanding): string {
  if (!reported) return "n/a";
  return unpriced === 0 ? amount(unit, spent) : `${amount(unit, spent)} + n/a`;
}

function cells(standing: BudgetStanding): string[] {
  const { scope, subject, unit, limit, reserved, percent, parked } = standing;
  return [
    scope,
    subject,
    unit,
    limit === null ? "-" : amount(unit, limit),
    spentIn(standing),
    amount(unit, reserved),
    percent === null ? "-" : `${percent}%`,
    parked.length === 0 ? "-" : parked.join(", "),
  ];
}

export const raise: Handler = async ({ app, args, io }) => {
  const typed = word(args.amount).trim();
  if (!/^\d+(\.\d+)?$/.test(typed)) return no(invalid("amount", "must be a number above 0", { value: typed }));
  const raised = await app.call("budget.raise", {
    scope: word(args.scope),
    subject: word(args.subject),
    unit: word(args.unit),
    amount: Number(typed),
  });
  if (!raised.ok) return raised;
  const { scope, subject, unit, limit, spent, resumed, parked, exhausted } = raised.value;
  const balance = `${amount(unit, spent)} of ${amount(unit, limit)} ${unit} spent`;
  const lines = [successLine(io.paint, `Raised: ${scope} ${visibleLine(subject)}, ${balance}`)];
  if (resumed.length > 0) lines.push(hintLine(io.paint, `goes on: ${resumed.join(", ")}`));
  if (exhausted) lines.push(warningLine(io.paint, "more than that is already spent", "raise it further"));
  else if (parked.length > 0) lines.push(hintLine(io.paint, `waits for running turns: ${parked.join(", ")}`));
  return ok({ json: raisedBudgetView(raised.value), text: lines.join("\n"), quietText: resumed.join("\n") });
};

/**
 * A number under a heading that names its unit: dollars to the cent, finer below a dollar; minutes to a tenth; other
 * units whole.
 */
function amount(unit: BudgetUnit, value: number): string {
  switch (unit) {
    case "usd":
      return dollars(value);
    case "minutes":
      return value.toFixed(1);
    case "tokens":
    case "turns":
      return String(Math.round(value));
  }
}
