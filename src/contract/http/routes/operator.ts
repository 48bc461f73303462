import { decidedView, decisionView } from "../../views/mail.ts";
import { attentionView, sinceView } from "../../views/web.ts";
import { markView } from "../mark-view.ts";
import { change, listOf, read } from "../route.ts";

/** Addresses of what waits for the operator. */
export const operatorRoutes = {
  "GET /api/attention": read("operator.attention", ({ items }) => ({
    items: items.filter(({ snoozed }) => !snoozed).map(attentionView),
    snoozed: items.filter(({ snoozed }) => snoozed).map(attentionView),
  })),
  "GET /api/since": read("operator.readSince", sinceView),
  "GET /api/decisions": read("operator.inbox", ({ decisions }) => listOf(decisions.map(decisionView))),
  "POST /api/attention/:id/seen": change("operator.mark", markView, { fixed: { what: "attention", mark: "seen" } }),
  "POST /api/attention/:id/snooze": change("operator.mark", markView, { fixed: { what: "attention", mark: "snooze" } }),
  "POST /api/decisions/:id": change("operator.decide", decidedView),
} as const;
