import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import { exits } from "../../../shared/exits.ts";
import type { Handler } from "../../command.ts";
import { isOn, list, text, word } from "../../given.ts";
import { successLine, warningLine } from "../../marks.ts";

export const nudge: Handler = async ({ app, args, flags, io }) => {
  const sent = await app.call("agent.nudge", {
    name: word(args.agent),
    message: list(args.message)?.join(" "),
    from: text(flags.from),
    force: isOn(flags.force),
  });
  if (!sent.ok) return sent;
  const { agentName, delivered, reason } = sent.value;
  if (!delivered) {
    const line = warningLine(io.paint, `Not sent: ${reason ?? ""}`, "--force sends it all the same");
    return ok({ json: { ...sent.value, success: false }, text: line, exit: exits.busy });
  }
  const why = reason === null ? "" : ` (${visibleLine(reason)})`;
  return ok({
    json: { ...sent.value },
    text: `${successLine(io.paint, "Nudge sent to", agentName)}${why}`,
    quietText: "",
  });
};
