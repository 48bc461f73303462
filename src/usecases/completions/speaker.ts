import type { Agent } from "../../domain/agent/agent.ts";
import type { ReportMail } from "../../domain/completion/report.ts";
import type { Composition } from "../mail/compose.ts";
import type { Sender } from "../mail/sender.ts";

/** The agent in whose name the engine sends what it has verified: bound by its rights, stamped with its turn. */
export const speakerOf = (agent: Agent, { verified }: { readonly verified: boolean }): Sender => ({
  name: agent.name,
  verified,
  origin: "agent",
  agent,
  known: agent,
});

/** A report as mail; what its payload says was proved. */
export const reportComposition = (
  { type, subject, body, payload }: ReportMail,
  { to, dedupeKey }: { readonly to: string; readonly dedupeKey: string },
): Composition => ({
  to,
  subject,
  body,
  blobPath: null,
  type,
  priority: "normal",
  payload,
  dedupeKey,
  expectsReply: false,
  wake: undefined,
  strict: false,
  allowEmpty: false,
  answer: null,
  proven: true,
});
