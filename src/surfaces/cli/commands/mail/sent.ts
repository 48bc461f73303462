import { visibleLine } from "../../../../domain/text/visible.ts";
import type { SendReply } from "../../../../usecases/mail/submit.ts";
import type { Io, Outcome } from "../../command.ts";
import { hintLine, successLine } from "../../marks.ts";

/** What `send` and `reply` answer. */
export function sentOutcome(io: Io, reply: SendReply): Outcome {
  for (const warning of reply.warnings) io.warn(visibleLine(warning));
  const { id, recipients, duplicate, woken, warnings } = reply;
  const more = { ...(duplicate ? { duplicate } : {}), ...(warnings.length > 0 ? { warnings } : {}) };
  const json = reply.group
    ? { messageIds: id === null ? [] : [id], recipientCount: recipients.length, recipients, woken, ...more }
    : { id, recipients, woken, ...more };
  return { json, text: textOf(io, reply), quietText: id ?? "" };
}

function textOf({ paint }: Io, { id, address, group, recipients, duplicate, woken }: SendReply): string {
  if (id === null) return `Nobody is in ${visibleLine(address)}; nothing was sent.`;
  if (duplicate) return `Already sent as ${paint.accent(id)}; nothing was sent again.`;
  const to = group
    ? `${visibleLine(address)} (${recipients.length} ${recipients.length === 1 ? "recipient" : "recipients"})`
    : recipients.map(visibleLine).join(", ");
  return [
    successLine(paint, `Sent to ${to}:`, id),
    ...(group ? recipients.map((name) => hintLine(paint, visibleLine(name))) : []),
    ...(woken.length === 0 ? [] : [hintLine(paint, `a turn is queued for ${woken.map(visibleLine).join(", ")}`)]),
  ].join("\n");
}
