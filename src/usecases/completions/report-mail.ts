import type { Agent } from "../../domain/agent/agent.ts";
import type { Missing } from "../../domain/completion/check.ts";
import type { ReportMail } from "../../domain/completion/report.ts";
import type { FinishMail } from "../../domain/completion/request.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { Composition } from "../mail/compose.ts";
import type { Sender } from "../mail/sender.ts";

/** The sender of the engine's mail about verified work: the agent, bound by its rights and stamped with its turn. */
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
  {
    to,
    dedupeKey,
    written,
  }: { readonly to: string; readonly dedupeKey: string; readonly written?: FinishMail | undefined },
): Composition => ({
  to,
  subject,
  body,
  blobPath: written?.blobPath ?? null,
  type,
  priority: written?.priority ?? "normal",
  payload,
  dedupeKey,
  expectsReply: false,
  wake: undefined,
  strict: false,
  allowEmpty: false,
  answer: written?.answer ?? null,
  proven: true,
});

/** What the agent reads when its report is refused: the report's words are the engine's, the way out is its own. */
export function unsent(what: string, refusal: Refusal): Missing {
  const told = (why: string, fix: string): Missing => ({
    kind: "mail",
    message: `${what} could not be sent: ${why}`,
    fix,
  });
  switch (refusal.kind) {
    case "rate-limited":
      return told(
        `you sent more than ${refusal.limit} messages per ${refusal.per}`,
        "wait a minute, then run ov done again",
      );
    case "invalid":
      return told(
        `its ${refusal.field} ${refusal.problem}`,
        "say less in --summary, --findings and --expansion-reason, then run ov done again",
      );
    case "type-not-yours":
      return told(`a ${refusal.capability} may not send mail of type ${refusal.type}`, askOperator);
    case "recipient-ended":
      return told(`${refusal.name} has ended (${refusal.state})`, askOperator);
    case "no-recipients":
      return told(`"${refusal.address}" reaches no agent: ${refusal.why}`, askOperator);
    case "not-found":
      return told(`there is no ${refusal.noun} "${refusal.id}"`, askOperator);
    case "not-allowed":
      return told(`${refusal.caller} may not ${refusal.action}: ${refusal.why}`, askOperator);
    default:
      return told(`mail refused it (${refusal.kind.replaceAll("-", " ")})`, askOperator);
  }
}

const askOperator = "tell the operator: ov mail send --to operator --type error --subject <what> --body <why>";
