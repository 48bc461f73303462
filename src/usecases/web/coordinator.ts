import { ok } from "../../domain/result.ts";
import { decimal, fields, text } from "../../domain/schema/schema.ts";
import type { AnswerReply } from "../coordinators/answer.ts";
import type { SendReply } from "../mail/submit.ts";
import type { Effect, Stream, World } from "../operation.ts";

interface Words {
  readonly subject: string;
  readonly body: string;
}

/** Sends the coordinator something to act on. */
export const tellCoordinator: Effect<Words, SendReply> = {
  kind: "effect",
  request: fields({ subject: text, body: text }),
  place: "engine",
  operatorOnly: true,
  action: () => "write to the coordinator",
  run: (world, words) => send(world, words),
};

/** Asks the coordinator and waits for its answer, as long as the person is patient. */
export const askCoordinator: Stream<
  Words & { readonly timeoutSec: number },
  AnswerReply & { readonly sentId: string },
  { readonly waiting: true }
> = {
  kind: "stream",
  request: fields({ subject: text, body: text, timeoutSec: decimal }),
  place: "engine",
  operatorOnly: true,
  action: () => "ask the coordinator",
  run: async (world, { timeoutSec, ...words }, { onItem, signal }) => {
    const sent = await send(world, words);
    if (!sent.ok) return sent;
    const sentId = sent.value.id ?? "";
    const until = performance.now() + Math.min(Math.max(timeoutSec, 1), longestAskSeconds) * 1_000;
    onItem({ waiting: true });
    return world.until(async () => {
      const answer = await world.call("coordinator.answer", { sentId });
      if (!answer.ok) return answer;
      const isOver = answer.value.answer !== null || answer.value.ended || performance.now() >= until;
      return isOver || signal.aborted ? ok({ ...answer.value, sentId }) : undefined;
    }, signal);
  },
};

const longestAskSeconds = 600;

async function send(world: World, { subject, body }: Words) {
  const found = await world.call("coordinator.find", { capability: "coordinator" });
  if (!found.ok) return found;
  return world.call("mail.send", { to: found.value.agentName, subject, body, type: "dispatch", expectsReply: true });
}
