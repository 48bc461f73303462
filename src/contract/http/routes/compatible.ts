import { headView } from "../../views/agent.ts";
import { sentView } from "../../views/mail.ts";
import { change, read } from "../route.ts";

const ofCoordinator = { fixed: { capability: "coordinator" } } as const;

/** Addresses of version 0.11 that have another one today, or none. */
export const compatibleRoutes = {
  "GET /api/coordinator/state": read(
    "coordinator.status",
    ({ asked }) => {
      if (asked === null || !asked.running) return { running: false, agentName: null, pid: null, runId: null };
      return { ...headView(asked), agentName: asked.agent.name, runId: asked.agent.runId };
    },
    ofCoordinator,
  ),
  "POST /api/coordinator/send": change("web.tellCoordinator", sentView),
  "POST /api/coordinator/ask": change(
    "web.askCoordinator",
    (asked) => ({
      messageId: asked.sentId,
      reply: asked.answer,
      timedOut: asked.answer === null && !asked.ended,
    }),
    { defaults: { timeoutSec: 120 }, isLong: true },
  ),
  "POST /api/coordinator/check-complete": change(
    "coordinator.check",
    ({ complete, triggers }) => ({ complete, triggers }),
    ofCoordinator,
  ),
  "POST /api/coordinator/start": change("web.startCoordinator", (started) => started),
  "POST /api/coordinator/stop": change("web.stopCoordinator", (stopped) => stopped, { isLong: true }),
  "POST /api/mail/:id/read": change("mail.read", () => ({ read: true })),
  // Mail is a ledger. What the operator deletes is put away for him, and stays what an agent was told.
  "DELETE /api/mail/:id": change("operator.mark", () => ({ deleted: true }), {
    fixed: { what: "mail", mark: "snooze" },
  }),
} as const;
