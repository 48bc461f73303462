import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { text } from "../../given.ts";
import { answerOutcome } from "../done/render.ts";
import { untilAnswered } from "../done/until-answered.ts";

export const run: Handler = async ({ app, args, io }) => {
  const ticket = await app.call("gate.run", { ref: text(args.ref), environment: app.environmentForGates() });
  if (!ticket.ok) return ticket;
  const { id, attached } = ticket.value;
  const answer = await untilAnswered(app, io, id);
  if (!answer.ok) return answer;
  const { refName, verdict } = answer.value.check;
  const yes =
    verdict === "unverified" ? `No gate failed on ${refName}, but none proved it.` : `The gates passed on ${refName}.`;
  return ok(answerOutcome(io.paint, answer.value, { yes, attached }));
};
