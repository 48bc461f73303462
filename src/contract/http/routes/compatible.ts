import { olderHeadStateKeys } from "../../older-keys.ts";
import { headView } from "../../views/agent.ts";
import { sentView } from "../../views/mail.ts";
import { entryView } from "../../views/merge.ts";
import { runSpansView } from "../../views/timeline.ts";
import { webSentView } from "../../views/web.ts";
import { change, read } from "../route.ts";

const ofCoordinator = { fixed: { capability: "coordinator" } } as const;

/** Addresses of version 0.11 that have another one today, or none; and further names of addresses. */
export const compatibleRoutes = {
  "GET /api/coordinator/state": read(
    "coordinator.status",
    ({ asked }) =>
      asked?.running === true
        ? { ...headView(asked), ...olderHeadStateKeys(asked) }
        : { running: false, ...olderHeadStateKeys(null) },
    ofCoordinator,
  ),
  "POST /api/coordinator/send": change("web.tellCoordinator", webSentView),
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
  "POST /api/mail/:id/read": change("mail.read", ({ id }) => ({ id, read: true })),
  // Mail is a ledger. What the operator deletes is put away for him, and stays what an agent was told.
  "DELETE /api/mail/:id": change(
    "operator.mark",
    ({ mark }) => ({ id: mark.subject.slice("mail:".length), deleted: true }),
    { fixed: { what: "mail", mark: "snooze" } },
  ),
  "POST /api/merge/:of/resolve": change("merge.settle", ({ entry, commit }) => ({ entry: entryView(entry), commit })),
  "GET /api/timeline": read("run.spans", runSpansView, { names: { run: "id" } }),
  "POST /api/reviews": change("review.submit", sentView, { defaults: { summary: "", findings: [] } }),
} as const;
