import { deliveryView, letterView, messageView, sentView, threadView } from "../../views/mail.ts";
import { markView } from "../mark-view.ts";
import { change, listOf, page, pageOf, read } from "../route.ts";

/** Addresses of mail. */
export const mailRoutes = {
  "GET /api/mail": read(
    "mail.list",
    ({ messages, older, newest }) => ({ ...pageOf({ older, newest }), items: messages.map(messageView) }),
    { defaults: page, isPaged: true },
  ),
  "GET /api/mail/:id": read("mail.status", ({ message, deliveries }) => ({
    message: messageView(message),
    deliveries: deliveries.map(deliveryView),
  })),
  "GET /api/mail/threads": read("mail.listThreads", ({ threads }) => listOf(threads.map(threadView)), {
    defaults: { ...page, box: "reply" },
  }),
  "GET /api/mail/:thread/thread": read("mail.readThread", ({ letters }) => listOf(letters.map(letterView))),
  "GET /api/mail/with/:with": read("mail.readConversation", ({ letters }) => listOf(letters.map(letterView)), {
    defaults: page,
  }),
  "POST /api/mail": change("mail.send", sentView),
  "POST /api/mail/:id/reply": change("mail.reply", sentView),
  "POST /api/mail/:id/seen": change("operator.mark", markView, { fixed: { what: "mail" }, defaults: { mark: "seen" } }),
  "POST /api/mail/:id/away": change("operator.mark", markView, {
    fixed: { what: "mail" },
    defaults: { mark: "snooze" },
  }),
  "POST /api/mail/:id/redirect": change("mail.redirect", (redirected) => redirected),
  "POST /api/mail/:id/retry": change("mail.retry", (retried) => retried),
} as const;
