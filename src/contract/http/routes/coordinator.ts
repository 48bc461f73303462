import { headView } from "../../views/agent.ts";
import { changedRunView, checklistView, endedRunView, exitCheckView } from "../../views/run.ts";
import { runPlanView, startedRunView, stoppedRunView } from "../../views/web.ts";
import { change, read } from "../route.ts";

const ofCoordinator = { fixed: { capability: "coordinator" } } as const;

/** Addresses of the coordinator, its run and what the operator says about both. */
export const coordinatorRoutes = {
  "GET /api/coordinator": read(
    "coordinator.status",
    ({ asked, all }) => ({ asked: asked === null ? null : headView(asked), all: all.map(headView) }),
    ofCoordinator,
  ),
  "GET /api/coordinator/check": read("coordinator.check", exitCheckView, ofCoordinator),
  "GET /api/coordinator/plan": read("web.planRun", runPlanView),
  "POST /api/coordinator": change("web.startRun", startedRunView),
  "POST /api/coordinator/:name/stop": change("web.stopRun", stoppedRunView, {
    defaults: { workers: "leave" },
    isLong: true,
  }),
  "POST /api/runs/:runId/change": change("run.change", changedRunView),
  "POST /api/runs/:runId/complete": change("run.complete", endedRunView),
  "POST /api/runs/:runId/criteria/:number/waive": change("criterion.waive", checklistView),
  "POST /api/runs/:runId/criteria/:number/unwaive": change("criterion.unwaive", checklistView),
} as const;
