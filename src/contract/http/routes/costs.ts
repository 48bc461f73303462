import { costGroupsView, costSeriesView, costTotalsView, liveCostsView, sessionCostView } from "../../views/cost.ts";
import { budgetView, raisedBudgetView } from "../../views/project.ts";
import { change, listOf, read } from "../route.ts";

const sessions = read(
  "cost.list",
  (found) => ({ items: found.sessions.map(sessionCostView), totals: costTotalsView(found.totals) }),
  { defaults: { last: 200 }, names: { limit: "last", run: "runId", agent: "agentName" } },
);

/** Addresses of costs and budgets. */
export const costsRoutes = {
  "GET /api/costs": read(
    "cost.group",
    ({ groups, totals }) => ({ ...costGroupsView(groups), totals: costTotalsView(totals) }),
    { defaults: { by: "agent", last: 200, zone: "UTC" }, names: { limit: "last", group: "by", run: "runId" } },
  ),
  "GET /api/costs/sessions": sessions,
  "GET /api/agents/:agent/costs": sessions,
  "GET /api/costs/live": read("cost.live", liveCostsView),
  "GET /api/costs/series": read("cost.series", costSeriesView, { defaults: { by: "agent" }, names: { run: "runId" } }),
  "GET /api/budgets": read("budget.show", ({ budgets }) => listOf(budgets.map(budgetView))),
  "POST /api/budgets/raise": change("budget.raise", raisedBudgetView),
} as const;
