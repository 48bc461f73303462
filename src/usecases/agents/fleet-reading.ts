import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import type { Wait } from "../../ports/store/agents.ts";
import type { Tx } from "../../ports/store.ts";
import { isUnderWay, rememberWhoGoesOn, willStart } from "./turns-ahead.ts";

/** A transaction for reading about a whole fleet, and the rows it has read at once. */
export interface FleetReading {
  readonly tx: Tx;
  /** The agents that are not released, the latest incarnation of each name. */
  readonly unreleased: readonly Agent[];
  /** How many turns an incarnation had; undefined where that was not read. */
  turnsOf(agentId: string): { readonly turns: number; readonly hasFailed: boolean } | undefined;
  /** What `tx.waits.of` and `tx.deliveries.countQueued` answer, at once. */
  waitsOf(name: string): readonly Wait[];
  unreadOf(name: string): number;
  /**
   * A live agent that goes on without the operator, and none of whose turns has failed. Most agents of a fleet are like
   * that; the rest is for `standingOf`, which says the same of these after a dozen questions each.
   */
  isPlainlyWell(agent: Agent): boolean;
}

/**
 * The same transaction, with answers about live agents, waits, open turns, inboxes and checks that were read for the
 * whole fleet at once. The rules about one agent need no change; asked about 500 agents they no longer start thousands
 * of queries. For reads only: it does not see later writes of the transaction.
 */
export async function readFleet(tx: Tx): Promise<FleetReading> {
  const unreleased = await tx.agents.list({ unreleased: true });
  const live = unreleased.filter((agent) => !hasEnded(agent));
  const liveByName = new Map(live.map((agent) => [agent.name, agent]));
  const liveByParent = Map.groupBy(live, ({ parentName }) => parentName);
  const waits = Map.groupBy(await tx.fleet.waits(), ({ agentName }) => agentName);
  const tallies = new Map((await tx.fleet.turnTallies()).map((tally) => [tally.agentId, tally]));
  const mail = new Map((await tx.fleet.queuedMail()).map((queued) => [queued.toAgent, queued]));
  const checked = new Set(await tx.fleet.checkedAgents());
  const waitsOf = (name: string): Wait[] => waits.get(name) ?? [];
  const unreadOf = (name: string): number => mail.get(name)?.messages ?? 0;
  const hasWaking = (name: string): boolean => mail.get(name)?.wakes === true;
  const goingOn = whoGoesOn(live, {
    startsByItself: (agent) => {
      const tally = tallies.get(agent.id);
      return isUnderWay(agent) || tally?.isRunning === true || willStart(tally?.queuedBy) || hasWaking(agent.name);
    },
    waitsOf,
    childrenOf: (name) => liveByParent.get(name) ?? [],
    asked: Map.groupBy(await tx.fleet.askedNames(), ({ asker }) => asker),
  });
  const { openTurn, threads, deliveries } = openTurnsAndThreads(tx);
  const byName = remembered(tx.agents.byName);
  const reading = changed(tx, {
    agents: changed(tx.agents, {
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
    }),
    messages: changed(tx.messages, {
      get: async (id) => (await threads()).messages.get(id) ?? tx.messages.get(id),
      thread: async (id) => (await threads()).byThread.get(id) ?? tx.messages.thread(id),
    }),
    runs: changed(tx.runs, { get: remembered(tx.runs.get) }),
    merges: changed(tx.merges, { list: remembered(tx.merges.list) }),
    waits: changed(tx.waits, { of: async (name) => waitsOf(name) }),
    turns: changed(tx.turns, {
      runningFor: (agentId) => openTurn(agentId, "running"),
      queuedFor: (agentId) => openTurn(agentId, "queued"),
    }),
    deliveries: changed(tx.deliveries, {
      ofMessage: async (seq) => (await deliveries()).get(seq) ?? tx.deliveries.ofMessage(seq),
      countQueued: async (name) => unreadOf(name),
      hasWaking: async (name) => hasWaking(name),
    }),
    checks: changed(tx.checks, {
      dueWork: async (agentId) => (agentId === undefined ? tx.checks.dueWork() : checked.has(agentId)),
    }),
  });
  rememberWhoGoesOn(reading, goingOn);
  return {
    unreleased,
    turnsOf: (agentId) => tallies.get(agentId),
    waitsOf,
    unreadOf,
    isPlainlyWell: (agent) =>
      goingOn.has(agent.name) &&
      liveByName.get(agent.name)?.id === agent.id &&
      agent.outcome === null &&
      tallies.get(agent.id)?.hasFailed !== true &&
      !waitsOf(agent.name).some(({ kind }) => kind === "budget"),
    tx: reading,
  };
}

interface FleetFacts {
  startsByItself(agent: Agent): boolean;
  waitsOf(name: string): readonly Wait[];
  childrenOf(name: string): readonly Agent[];
  readonly asked: ReadonlyMap<string, readonly { readonly asked: string }[]>;
}

/**
 * The names of these live agents that surely have a turn ahead, found for all of them together: those that start by
 * themselves, and those that one of them will wake with an answer, a report or its end. `hasTurnsAhead` knows more reasons,
 * and asks for them one agent at a time.
 */
function whoGoesOn(live: readonly Agent[], { startsByItself, waitsOf, childrenOf, asked }: FleetFacts): Set<string> {
  const found = new Set<string>();
  let open: Agent[] = [];
  for (const agent of live) {
    if (startsByItself(agent)) found.add(agent.name);
    else open.push(agent);
  }
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    open = open.filter(({ name }) => {
      const isWoken =
        waitsOf(name).some(({ kind, ref }) => kind === "child" && found.has(ref)) ||
        asked.get(name)?.some((one) => found.has(one.asked)) === true ||
        childrenOf(name).some((child) => found.has(child.name));
      if (isWoken) found.add(name);
      return !isWoken;
    });
  }
  return found;
}

/** All of a kind are read when one of them is asked for. Where all agents go on by themselves, few are. */
function openTurnsAndThreads(tx: Tx) {
  const turns = once(async () => Map.groupBy(await tx.fleet.openTurns(), ({ agentId }) => agentId));
  const threads = once(async () => {
    const messages = await tx.fleet.openThreads();
    return {
      messages: new Map(messages.map((message) => [message.id, message])),
      byThread: Map.groupBy(messages, ({ threadId }) => threadId),
    };
  });
  const deliveries = once(async () =>
    Map.groupBy(await tx.fleet.deliveriesOfOpenThreads(), ({ messageSeq }) => messageSeq),
  );
  const openTurn = async (agentId: string, status: "running" | "queued") =>
    (await turns()).get(agentId)?.find((turn) => turn.status === status);
  return { openTurn, threads, deliveries };
}

/** The same object with other answers to some questions. Copying a transaction would make all its families. */
const changed = <T extends object>(base: T, answers: Partial<T>): T => Object.assign(Object.create(base) as T, answers);

const isChildOf = (agent: Agent, parentName: string | undefined): boolean =>
  parentName === undefined || agent.parentName === parentName;

function once<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  return () => {
    answer ??= ask();
    return answer;
  };
}

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
