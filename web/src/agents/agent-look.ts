import type { Agent } from "../api/types.ts";
import { clockTime, span } from "../state/words.ts";
import type { Tone } from "../ui/glyph.tsx";
import type { Look } from "../ui/look.tsx";

export interface AgentLook extends Look {
  /** The moment that a running figure beside the word counts from. */
  readonly since?: string | undefined;
  /** Smaller is more urgent: the order among siblings. */
  readonly rank: number;
}

/** How an agent looks on every page. A condition lies on top of its state and takes the place of its glyph. */
export function agentLook(agent: Agent, now: number): AgentLook {
  const { condition, state, outcome } = agent;
  if (condition?.kind === "budget") return { glyph: "budget", tone: "budget", word: "Budget reached", rank: 0 };
  if (condition !== null && condition !== undefined && agent.running) {
    const until = condition.until === null ? "" : ` until ${clockTime(condition.until)}`;
    return {
      glyph: "parked",
      tone: "park",
      word: `${condition.kind === "paused" ? "Paused" : "Parked"}${until}`,
      rank: 3,
    };
  }
  switch (state) {
    case "booting":
      return { glyph: "booting", tone: "idle", word: "Starting", rank: 7 };
    case "working":
      return { glyph: "working", tone: "live", word: "Working", rank: 5 };
    case "in_turn":
      return {
        glyph: "in_turn",
        tone: "live",
        word: "In turn",
        since: agent.turnSince ?? undefined,
        rank: 4,
      };
    case "between_turns":
      return { glyph: "between_turns", tone: "idle", word: "Waits", rank: 6 };
    case "stalled": {
      const since = agent.stalledSince === null ? "" : ` ${span(now - Date.parse(agent.stalledSince))}`;
      return { glyph: "stalled", tone: "attn", word: `Stalled${since}`, rank: 2 };
    }
    case "zombie":
      return { glyph: "zombie", tone: "bad", word: "Dead, work kept", rank: 1 };
    case "completed":
      if (outcome === "no_signal") return { glyph: "no_signal", tone: "attn", word: "Ended without report", rank: 2 };
      return { glyph: "completed", tone: "done", word: outcome === "stopped" ? "Stopped" : "Done", rank: 8 };
  }
}

/** What it does, or why it waits, in one line. Code (a tool with its argument) is told apart from a sentence. */
export function nowLine(agent: Agent): { readonly text: string; readonly isCode: boolean } {
  const { now, doing, condition } = agent;
  const running = now ?? (doing === null ? null : { tool: doing.tool, argument: doing.summary });
  if (condition !== null && condition !== undefined) return { text: condition.words, isCode: false };
  if (running !== null && running !== undefined) {
    const argument = agent.worktreePath ? running.argument?.replaceAll(`${agent.worktreePath}/`, "") : running.argument;
    return { text: argument ? `${running.tool} ${argument}` : running.tool, isCode: true };
  }
  if (agent.problem !== null && agent.problem !== undefined) return { text: agent.problem, isCode: false };
  if (agent.because !== null && agent.because !== undefined) return { text: agent.because, isCode: false };
  return { text: agent.state === "in_turn" ? "thinking" : "", isCode: false };
}

/** The spine of an agent: idle and done have none. */
export const spineOf = ({ tone }: Look): Tone | undefined => (tone === "idle" || tone === "done" ? undefined : tone);
