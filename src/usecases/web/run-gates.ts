import { isOpenCheck } from "../../domain/completion/check.ts";
import { ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { CheckReply } from "../completions/checks.ts";
import type { Stream } from "../operation.ts";

export interface RunGatesReply extends CheckReply {
  /** The same was asked before, and not answered yet. */
  readonly attached: boolean;
}

/** Has the gates run on a branch, a commit or the work of an agent, and waits for the answer. */
export const runGatesFromWeb: Stream<{ readonly ref: string }, RunGatesReply, { readonly said: string | null }> = {
  kind: "stream",
  request: fields({ ref: text }),
  place: "engine",
  operatorOnly: true,
  action: ({ ref }) => `run the gates on ${ref}`,
  run: async (world, { ref }, { onItem, signal }) => {
    const ticket = await world.call("gate.run", { ref });
    if (!ticket.ok) return ticket;
    const { id, attached } = ticket.value;
    return world.until(async () => {
      const found = await world.call("done.status", { id });
      if (!found.ok) return found;
      // Who leaves ends the waiting alone: the engine goes on with the check.
      if (!isOpenCheck(found.value.check) || signal.aborted) return ok({ ...found.value, attached });
      onItem({ said: found.value.check.progress });
      return undefined;
    }, signal);
  },
};
