import type { Agent } from "../agent/agent.ts";
import type { TurnEvent } from "../turn/turn-event.ts";

/** The tokens of one answer of a model, as its runtime reported them. One row per turn and message. */
export interface Usage {
  readonly turnId: string;
  readonly messageId: string;
  readonly agentName: string;
  readonly runId: string;
  readonly taskId: string | null;
  readonly model: string | null;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly createdAt: number;
}

export type TokenCounts = Pick<Usage, "input" | "output" | "cacheRead" | "cacheWrite">;

type UsageEvent = Extract<TurnEvent, { readonly kind: "usage" }>;

/** A runtime's report as a row, for the turn and agent it came from. */
export function usageOf(
  { messageId, model, input, output, cacheRead, cacheWrite }: UsageEvent,
  place: { readonly turnId: string; readonly agent: Pick<Agent, "name" | "runId" | "taskId">; readonly now: number },
): Usage {
  const { turnId, agent, now } = place;
  const whose = { turnId, messageId, agentName: agent.name, runId: agent.runId, taskId: agent.taskId };
  return { ...whose, model, input, output, cacheRead, cacheWrite, createdAt: now };
}

/** What counts against a budget. What is read from a cache is not new: each request of a long turn reads it all again. */
export const countedTokens = (counts: Iterable<TokenCounts>): number => {
  let tokens = 0;
  for (const { input, output, cacheWrite } of counts) tokens += input + output + cacheWrite;
  return tokens;
};
