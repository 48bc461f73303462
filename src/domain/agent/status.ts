import { parseRef } from "../budget/budget.ts";
import { shellWord } from "../text/shell-word.ts";
import { type Agent, hasEnded } from "./agent.ts";
import { isAttachHold, type WaitKind } from "./wait.ts";

type StatusFacts = Pick<Agent, "state" | "outcome" | "releasedAt"> & {
  /** It has commits that landed nowhere and are not on their way. */
  readonly landedNowhere?: boolean;
};

/** How an agent stands, in one glance: only work that was handed over is `good`. */
export type StatusTone = "active" | "waiting" | "good" | "ended" | "trouble";

/** The status of an agent as a person reads it. Derived from its state and outcome; stored nowhere. */
export interface AgentStatus {
  readonly words: string;
  readonly tone: StatusTone;
}

export function statusOf({ state, outcome, releasedAt, landedNowhere = false }: StatusFacts): AgentStatus {
  switch (state) {
    case "booting":
      return { words: "starting", tone: "waiting" };
    case "working":
    case "in_turn":
      return { words: "working", tone: "active" };
    case "between_turns":
      return { words: "waiting", tone: "waiting" };
    case "stalled":
      return { words: "silent", tone: "trouble" };
    case "completed":
    case "zombie":
      return releasedAt !== null && outcome === "done" && landedNowhere
        ? { words: "done, landed nowhere", tone: "ended" }
        : endStatus(outcome, releasedAt !== null);
  }
}

function endStatus(outcome: Agent["outcome"], released: boolean): AgentStatus {
  switch (outcome) {
    case "done":
      return { words: released ? "done" : "submitted", tone: "good" };
    case "assumed_done":
      return { words: "taken as done", tone: "good" };
    case "stopped":
      return { words: "stopped", tone: "ended" };
    case "no_signal":
      return { words: "ended without a report", tone: "trouble" };
    case "crashed":
      return { words: "crashed", tone: "trouble" };
    case "stalled":
      return { words: "ended after a long silence", tone: "trouble" };
    case "killed":
      return { words: "killed", tone: "trouble" };
    case "start_failed":
      return { words: "could not start", tone: "trouble" };
    case null:
      return { words: "ended", tone: "ended" };
  }
}

/** It ended by a failure, and its work was neither taken up, released nor put to rest. */
export const endedInTrouble = (agent: StatusFacts & Pick<Agent, "successorName">): boolean =>
  hasEnded(agent) && agent.releasedAt === null && agent.successorName === null && statusOf(agent).tone === "trouble";

/**
 * How an agent that could not start is tried again, with the command. A later generation has the work of the earlier ones,
 * so it goes on. Undefined when no command does it.
 */
export function startAgain({
  name,
  taskId,
  capability,
  generation,
}: Pick<Agent, "name" | "taskId" | "capability" | "generation">): string | undefined {
  if (generation > 1) return `have it go on: ov recover ${name}`;
  if (taskId === null) return undefined;
  return `start it again: ov sling ${shellWord(taskId)} --capability ${capability} --name ${name}`;
}

interface WaitFacts {
  readonly agentName: string;
  readonly kind: WaitKind;
  /** Names the child, message, merge, budget or provider that the agent waits for. */
  readonly ref: string;
}

/** The end of the sentence "the agent waits for ...", with a command if only the operator can end the wait. */
export function waitWords({ agentName, kind, ref }: WaitFacts): string {
  switch (kind) {
    case "child":
      return ref;
    case "reply":
      return `an answer to ${ref}`;
    case "task":
      return `task ${ref} to be closed`;
    case "merge":
      return `${ref} to land`;
    case "approval":
      return `your approval of ${ref}`;
    case "review":
      return `the review ${ref}`;
    case "explicit":
      return ref;
    case "budget":
      return budgetWords(ref);
    case "operator":
      return isAttachHold({ kind, ref })
        ? "you: somebody is attached to it"
        : `${ref === "operator" ? "you: it is paused" : `${ref}, who paused it`} (ov resume ${agentName})`;
    case "rate_limit":
      return `the ${ref} to take requests again`;
  }
}

function budgetWords(ref: string): string {
  const unit = parseRef(ref)?.unit;
  const command = raiseCommand(ref);
  const lacks = unit === undefined ? "" : `more ${unit === "usd" ? "money" : unit}: `;
  return `${lacks}a budget is used up${command === null ? "" : ` (${command})`}`;
}

/** The command that raises a budget, so that agents waiting for it go on; null when the reference names no budget. */
export function raiseCommand(ref: string): string | null {
  const budget = parseRef(ref);
  if (budget === undefined) return null;
  return `ov budget raise ${budget.scope} ${shellWord(budget.subject)} ${budget.unit} <amount>`;
}
