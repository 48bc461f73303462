import { shown } from "../../domain/budget/budget.ts";
import type { BudgetSoon } from "../../usecases/budgets/soon.ts";
import type { CollisionAhead } from "../../usecases/merge/radar.ts";
import { iso } from "../values.ts";

/** A budget that will be reached before long. */
export const budgetSoonView = ({ unit, limit, spent, since, ...budget }: BudgetSoon) => ({
  ...budget,
  unit,
  limit: shown(unit, limit),
  spent: shown(unit, spent),
  since: iso(since),
});

/** Two agents whose branches will collide. */
export const collisionView = ({ since, ...collision }: CollisionAhead) => ({ ...collision, since: iso(since) });
