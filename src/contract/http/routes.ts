import type { OperationName } from "../../usecases/catalog.ts";
import type { Route } from "./route.ts";
import { agentsRoutes } from "./routes/agents.ts";
import { compatibleRoutes } from "./routes/compatible.ts";
import { coordinatorRoutes } from "./routes/coordinator.ts";
import { costsRoutes } from "./routes/costs.ts";
import { engineRoutes } from "./routes/engine.ts";
import { groupsRoutes } from "./routes/groups.ts";
import { mailRoutes } from "./routes/mail.ts";
import { mergeRoutes } from "./routes/merge.ts";
import { operatorRoutes } from "./routes/operator.ts";
import { projectRoutes } from "./routes/project.ts";
import { reviewsRoutes } from "./routes/reviews.ts";
import { runsRoutes } from "./routes/runs.ts";
import { searchRoutes } from "./routes/search.ts";
import { tasksRoutes } from "./routes/tasks.ts";

/**
 * Every address of the server. The request, the rights and the documentation of an address are derived from the
 * operation that it names.
 */
export const routes = {
  ...agentsRoutes,
  ...operatorRoutes,
  ...mailRoutes,
  ...mergeRoutes,
  ...reviewsRoutes,
  ...tasksRoutes,
  ...runsRoutes,
  ...coordinatorRoutes,
  ...costsRoutes,
  ...projectRoutes,
  ...groupsRoutes,
  ...engineRoutes,
  ...searchRoutes,
  ...compatibleRoutes,
} as const;

export type RouteName = keyof typeof routes;
/** The document that an address answers with. */
export type ReplyAt<R extends RouteName> = ReturnType<(typeof routes)[R]["view"]>;
/** A route whose types its name no longer tells. */
export type AnyRoute = Route<OperationName, unknown>;
