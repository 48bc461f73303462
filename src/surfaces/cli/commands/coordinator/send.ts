import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { HeadCapability } from "../../../../usecases/coordinators/find.ts";
import type { Handler } from "../../command.ts";
import { text } from "../../given.ts";
import { successLine } from "../../marks.ts";
import { headAndBody } from "./head-flags.ts";

/** Sends one that lives something to do. */
export const send =
  (capability: HeadCapability): Handler =>
  async (call) => {
    const { app, flags, io } = call;
    const meant = await headAndBody(capability, call);
    if (!meant.ok) return meant;
    const { agentName, body } = meant.value;
    const sent = await app.call("mail.send", {
      to: agentName,
      subject: text(flags.subject) ?? "operator dispatch",
      body,
      type: "dispatch",
    });
    if (!sent.ok) return sent;
    const { id, woken, warnings, duplicate } = sent.value;
    for (const warning of warnings) io.warn(visibleLine(warning));
    return ok({
      json: { id, nudged: woken.includes(agentName), agentName, ...(duplicate ? { duplicate } : {}) },
      text: duplicate
        ? `Already sent as ${io.paint.accent(id ?? "")} less than a minute ago; nothing was sent again.`
        : successLine(io.paint, `Sent to ${agentName}:`, id ?? ""),
      quietText: id ?? "",
    });
  };
