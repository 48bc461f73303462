import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { word } from "../../given.ts";
import { answerOutcome } from "../done/render.ts";
import { untilAnswered } from "../done/until-answered.ts";

export const verify: Handler = async ({ app, args, io }) => {
  const asked = { receipt: word(args.receipt), environment: app.environmentForGates() };
  const ticket = await app.call("gate.verify", asked);
  if (!ticket.ok) return ticket;
  const { id, attached } = ticket.value;
  const answer = await untilAnswered(app, io, id);
  if (!answer.ok) return answer;
  const yes = `Reproduced: every gate of ${word(args.receipt)} ended as it did before.`;
  const outcome = answerOutcome(io.paint, answer.value, { yes, attached });
  const { verdict } = answer.value.check;
  return ok({ ...outcome, json: { ...outcome.json, result: verdict } });
};
