/** The use cases about mail, loaded when called. */
export const mailUseCases = {
  "mail.send": async () => (await import("./send.ts")).sendMail,
  "mail.reply": async () => (await import("./reply.ts")).replyToMail,
  "mail.peek": async () => (await import("./peek.ts")).peekMail,
  "mail.follow": async () => (await import("./peek.ts")).followMail,
  "mail.check": async () => (await import("./check.ts")).checkMail,
  "mail.delivered": async () => (await import("./delivered.ts")).confirmDelivered,
  "mail.list": async () => (await import("./list.ts")).listMail,
  "mail.read": async () => (await import("./read.ts")).readMail,
  "mail.status": async () => (await import("./status.ts")).mailStatus,
  "mail.why": async () => (await import("./why.ts")).whyMail,
  "mail.dead": async () => (await import("./dead.ts")).deadMail,
  "mail.retry": async () => (await import("./retry.ts")).retryMail,
  "mail.purge": async () => (await import("./purge.ts")).purgeMail,
} as const;
