import { groupProgressView, groupView, specView } from "../../views/task.ts";
import { change, listOf, read } from "../route.ts";

/** Addresses of groups of tasks, and of specifications. */
export const groupsRoutes = {
  "GET /api/groups": read("group.list", ({ groups }) => listOf(groups.map(groupView))),
  "GET /api/groups/:group": read("group.status", ({ groups }) => listOf(groups.map(groupProgressView))),
  "POST /api/groups": change("group.create", groupView, { defaults: { skipValidation: false } }),
  "POST /api/groups/:group/add": change("group.add", groupView, { defaults: { skipValidation: false } }),
  "POST /api/groups/:group/remove": change("group.remove", groupView),
  "GET /api/specs/:taskId": read("spec.read", specView),
  "PUT /api/specs/:taskId": change("spec.write", ({ path }) => ({ path })),
} as const;
