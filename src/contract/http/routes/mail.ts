import { deliveryView, letterView, messageView, threadView } from "../../views/mail.ts";
import { webSentView } from "../../views/web.ts";
import { markView } from "../mark-view.ts";
import { change, listOf, page, pageOf, read } from "../route.ts";

const messages = read("mail.list", (found) => ({ ...pageOf(found), items: found.messages.map(messageView) }), {
  defaults: page,
  isPaged: true,
});

/** Addresses of mail. */
export const mailRoutes = {
  "GET /api/mail": messages,
  "GET /api/agents/:agent/mail": messages,
  "GET /api/mail/:id": read("mail.readLetter", ({ letter, thread }) => ({
    message: messageView(letter.message),
    deliveries: letter.deliveries.map(deliveryView),
    thread: thread.map(letterView),
  })),
  "GET /api/mail/threads": read("mail.listThreads", ({ threads }) => listOf(threads.map(threadView)), {
    defaults: { ...page, box: "reply" },
  }),
  "GET /api/mail/:thread/thread": read("mail.readThread", ({ letters }) => listOf(letters.map(letterView))),
  "GET /api/mail/with/:with": read("mail.readConversation", ({ letters }) => listOf(letters.map(letterView)), {
    defaults: page,
  }),
  "POST /api/mail": change("mail.send", webSentView),
  "POST /api/mail/:id/reply": change("mail.reply", webSentView),
  "POST /api/mail/:id/seen": change("operator.mark", markView, { fixed: { what: "mail" }, defaults: { mark: "seen" } }),
  "POST /api/mail/:id/away": change("operator.mark", markView, {
    fixed: { what: "mail" },
    defaults: { mark: "snooze" },
  }),
  "POST /api/mail/:id/redirect": change("mail.redirect", (redirected) => redirected),
  "POST /api/mail/:id/retry": change("mail.retry", (retried) => retried),
} as const;
