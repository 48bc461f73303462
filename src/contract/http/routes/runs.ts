import { runAgentView } from "../../views/agent.ts";
import { runView } from "../../views/run.ts";
import { fleetAtView, runFiguresView, runSpansView } from "../../views/timeline.ts";
import { listOf, read } from "../route.ts";

/** Addresses of runs. */
export const runsRoutes = {
  "GET /api/runs": read("run.list", ({ runs }) => listOf(runs.map(runView)), {
    defaults: { last: 50 },
    names: { limit: "last" },
  }),
  "GET /api/runs/:id": read("run.show", ({ agents, ...detail }) => ({
    run: runView(detail),
    agents: agents.map(runAgentView),
  })),
  "GET /api/runs/figures": read("run.figures", ({ runs }) => listOf(runs.map(runFiguresView)), {
    defaults: { last: 50 },
    names: { limit: "last" },
  }),
  "GET /api/runs/:id/spans": read("run.spans", runSpansView),
  "GET /api/runs/:id/at": read("run.fleetAt", fleetAtView),
} as const;
