import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import type { Tx } from "../../ports/store.ts";

/** A transaction for reading about a whole fleet, and what it read at once. */
export interface FleetReading {
  readonly tx: Tx;
  /** The agents that are not released, the latest incarnation of each name. */
  readonly unreleased: readonly Agent[];
  /** How many turns an incarnation had; undefined where that was not read. */
  turnsOf(agentId: string): { readonly turns: number; readonly hasFailed: boolean } | undefined;
}

/**
 * The same transaction, with answers about live agents, waits, open turns, inboxes and checks that were read for the whole
 * fleet at once. The rules about one agent stay what they are; asked about 500 agents they no longer start thousands of
 * queries. It is for reads only: it does not see what the transaction writes afterwards.
 */
export async function readFleet(tx: Tx): Promise<FleetReading> {
  const unreleased = await tx.agents.list({ unreleased: true });
  const live = unreleased.filter((agent) => !hasEnded(agent));
  const liveByName = new Map(live.map((agent) => [agent.name, agent]));
  const liveByParent = Map.groupBy(live, ({ parentName }) => parentName);
  const waits = Map.groupBy(await tx.fleet.waits(), ({ agentName }) => agentName);
  const openTurns = Map.groupBy(await tx.fleet.openTurns(), ({ agentId }) => agentId);
  const tallies = new Map((await tx.fleet.turnTallies()).map((tally) => [tally.agentId, tally]));
  const mail = new Map((await tx.fleet.queuedMail()).map((queued) => [queued.toAgent, queued]));
  const checked = new Set(await tx.fleet.checkedAgents());
  const openTurn = (agentId: string, status: "running" | "queued") =>
    openTurns.get(agentId)?.find((turn) => turn.status === status);
  const byName = remembered(tx.agents.byName);
  const runs = remembered(tx.runs.get);
  const merges = remembered(tx.merges.list);
  return {
    unreleased,
    turnsOf: (agentId) => tallies.get(agentId),
    tx: {
      ...tx,
      agents: {
        ...tx.agents,
        byName: async (name) => liveByName.get(name) ?? byName(name),
        list: async (filter) => {
          const { live: isLive, unreleased: isUnreleased, parentName, runId, ...rest } = filter;
          if ((isLive !== true && isUnreleased !== true) || Object.keys(rest).length > 0) return tx.agents.list(filter);
          const candidates = isLive === true ? live : unreleased;
          if (runId !== undefined)
            return candidates.filter((agent) => agent.runId === runId && isChildOf(agent, parentName));
          if (parentName === undefined) return candidates;
          return isLive === true
            ? (liveByParent.get(parentName) ?? [])
            : candidates.filter((agent) => isChildOf(agent, parentName));
        },
      },
      messages: { ...tx.messages, get: remembered(tx.messages.get), thread: remembered(tx.messages.thread) },
      runs: { ...tx.runs, get: runs },
      merges: { ...tx.merges, list: merges },
      waits: { ...tx.waits, of: async (name) => waits.get(name) ?? [] },
      turns: {
        ...tx.turns,
        runningFor: async (agentId) => openTurn(agentId, "running"),
        queuedFor: async (agentId) => openTurn(agentId, "queued"),
      },
      deliveries: {
        ...tx.deliveries,
        ofMessage: remembered(tx.deliveries.ofMessage),
        countQueued: async (name) => mail.get(name)?.messages ?? 0,
        hasWaking: async (name) => mail.get(name)?.wakes === true,
      },
      checks: {
        ...tx.checks,
        dueWork: async (agentId) => (agentId === undefined ? tx.checks.dueWork() : checked.has(agentId)),
      },
    },
  };
}

const isChildOf = (agent: Agent, parentName: string | undefined): boolean =>
  parentName === undefined || agent.parentName === parentName;

/** Asks once for each question. */
function remembered<Question, Answer>(
  ask: (question: Question) => Promise<Answer>,
): (question: Question) => Promise<Answer> {
  const known = new Map<string, Promise<Answer>>();
  return (question) => {
    const key = JSON.stringify(question);
    const answer = known.get(key) ?? ask(question);
    known.set(key, answer);
    return answer;
  };
}
