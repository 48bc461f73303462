import { hasEnded } from "../../domain/agent/agent.ts";
import { statusOf } from "../../domain/agent/status.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, flag, text } from "../../domain/schema/schema.ts";
import { record } from "../events/record.ts";
import type { UseCase } from "../usecase.ts";
import { descendantsOf, findSubordinate } from "./subordinate.ts";

export interface PauseRequest {
  readonly name: string;
  /** Also everybody below it. */
  readonly tree: boolean;
}

export interface PauseReply {
  readonly paused: readonly string[];
  /** Were paused by the same caller before. */
  readonly alreadyPaused: readonly string[];
  /** Have a turn that still runs to its end. */
  readonly running: readonly string[];
}

/** Holds agents back: mail and turns queue for them and start nothing until they are resumed. A running turn finishes. */
export const pauseAgent: UseCase<PauseRequest, PauseReply> = {
  kind: "write",
  request: fields({ name: text, tree: flag }),
  run: async (tx, { caller, now }, { name, tree }) => {
    const found = await findSubordinate(tx, caller, name, "pause");
    if (!found.ok) return found;
    if (hasEnded(found.value))
      return no(invalid("agent", `has ended (${statusOf(found.value).words})`, { value: name }));
    const below = tree ? await descendantsOf(tx, found.value.name) : [];
    const paused: string[] = [];
    const alreadyPaused: string[] = [];
    const running: string[] = [];
    for (const agent of [found.value, ...below.filter((one) => !hasEnded(one))]) {
      const waits = await tx.waits.of(agent.name);
      const before = waits.some((wait) => wait.kind === "operator" && wait.ref === caller.name);
      (before ? alreadyPaused : paused).push(agent.name);
      if ((await tx.turns.runningFor(agent.id)) !== undefined) running.push(agent.name);
      if (before) continue;
      await tx.waits.add({ agentName: agent.name, kind: "operator", ref: caller.name, since: now, deadline: null });
      await record(tx, now, { source: "operator", agent, type: "pause", data: { by: caller.name } });
    }
    return ok({ paused, alreadyPaused, running });
  },
};
