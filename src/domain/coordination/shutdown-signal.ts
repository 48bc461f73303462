import type { MailType } from "../mail/types.ts";

/** Does this message ask whoever gets it to come to an end? By its type, or in its subject as older scripts do. */
export const asksForShutdown = (mail: { readonly type: MailType; readonly subject: string }): boolean =>
  mail.type === "shutdown" || /\bshut[ -]?down\b/i.test(mail.subject);
