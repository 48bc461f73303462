import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { isIn, isTerminal, terminalCandidates } from "../../domain/agent/capability.ts";
import { scopeWarning } from "../../domain/agent/scope.ts";
import { stopEnd } from "../../domain/agent/transition.ts";
import { isAttachHold } from "../../domain/agent/wait.ts";
import { leftUnfinished, neverFinished } from "../../domain/completion/unfinished.ts";
import { type DeliveryEvent, nextDelivery } from "../../domain/mail/delivery.ts";
import type { Delivery, Message } from "../../domain/mail/types.ts";
import { type PriceList, type TurnCost, turnCost } from "../../domain/prices/prices.ts";
import { failureAdvice, isTransient, type RuntimeAdvice } from "../../domain/turn/failure.ts";
import { tells } from "../../domain/turn/program-words.ts";
import { type Settlement, settle, type TurnEnd } from "../../domain/turn/settle.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { ProcessExit } from "../../ports/agent-process.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Settings } from "../../ports/settings.ts";
import type { Mail } from "../../ports/store/mail.ts";
import type { Store, Tx } from "../../ports/store.ts";
import type { WorktreeFacts } from "../../ports/worktrees.ts";
import { type AgentEnd, endAgent } from "../../usecases/agents/end-agent.ts";
import { changeState } from "../../usecases/agents/reopen-agent.ts";
import { settleTurnBudget } from "../../usecases/budgets/turn-budget.ts";
import { bookTurn } from "../../usecases/costs/book-spending.ts";
import { record } from "../../usecases/events/record.ts";
import { reportDead } from "../../usecases/mail/dead-mail.ts";
import { handOn } from "../../usecases/mail/hand-on.ts";
import { waitForOpenTasks } from "../../usecases/tasks/held-dependents.ts";
import { turnLease } from "./begin.ts";
import { followEnd, parksBefore, settleHopeless, settleParking } from "./follow-end.ts";
import type { SupervisorLimits } from "./ports.ts";

export interface SettlePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly settings: Settings;
  readonly limits: Pick<SupervisorLimits, "maxAttempts">;
  /** The prices that count now. */
  prices(): PriceList;
}

/** The observed end of the agent's process, and the state of its worktree. */
export interface Ending {
  readonly end: TurnEnd;
  readonly exit: ProcessExit;
  readonly resultText: string | null;
  /** The end of what the program wrote to its error output. */
  readonly errorOutput?: string;
  /** What the runtime says the turn cost. */
  readonly costUsd?: number | null;
  /** What the runtime's own user would do about a failure. */
  readonly advice?: RuntimeAdvice | undefined;
  readonly worktree: WorktreeFacts | undefined;
  /** A sentence about the work that is left, when the worktree is gone. */
  readonly kept?: string | undefined;
}

/** Ends a turn: what became of it, of its input, of its agent and of the agents that must know, in one transaction. */
export async function settleTurn(
  ports: SettlePorts,
  turnId: string,
  fence: number,
  ending: Ending,
): Promise<Settlement | undefined> {
  const now = ports.clock.now();
  const list = ports.prices();
  return ports.store.transaction(async (tx) => {
    const turn = await tx.turns.get(turnId);
    if (turn === undefined || turn.status !== "running" || turn.fence !== fence) return undefined;
    const before = await tx.agents.get(turn.agentId);
    if (before === undefined) return undefined;
    const agent = await inspected(tx, before, ending.worktree);
    const terminal = await terminalMail(tx, turn, agent);
    const settlement = await decide(tx, ports, turn, agent, { ending, terminal, now });
    const trouble = troubleOf(agent, ending, settlement);
    const cost = turnCost({
      reportedUsd: ending.costUsd ?? null,
      answers: await tx.usage.ofTurn(turnId),
      model: agent.model,
      at: turn.startedAt ?? now,
      list,
    });
    await tx.turns.end(turnId, fence, {
      status: settlement.turn,
      clean: ending.end.kind === "clean",
      resultText: ending.resultText,
      exitCode: ending.exit.code,
      exitSignal: ending.exit.signal,
      terminalMessageSeq: terminal?.seq ?? null,
      error: errorOf(ending.end),
      ...trouble,
      ...cost,
      endedAt: now,
    });
    const settled: SettledTurn = { turn, agent, settlement, now };
    await settleInput(tx, ports, settled);
    await settleParking(tx, { ids: ports.ids, now }, agent, settlement, ending.end);
    if (settlement.forgetsConversation === true) await tx.agents.forgetProviderSession(agent.id);
    await moveAgent(tx, ports, settled, { ending, advice: trouble.advice });
    await settleHopeless(tx, { ids: ports.ids, now }, agent, settlement, { end: ending.end, advice: trouble.advice });
    await queueNext(tx, ports, settled, ending);
    await followEnd(
      tx,
      { ids: ports.ids, now, settings: ports.settings },
      { turn, agentId: agent.id, settlement, ending },
    );
    const terms = { limits: ports.settings.budgets, ids: ports.ids, now };
    await settleTurnBudget(tx, { turn, agent, costUsd: dollarsOf(cost), ...terms });
    await bookTurn(tx, { turn, agent, cost, list, now });
    await tx.tokens.revokeForTurn(turnId, now);
    await tx.processes.endForTurn(turnId, ending.end.kind, now);
    await tx.leases.delete(turnLease(turnId), fence);
    const { errorOutput: text = "", end } = ending;
    if (!tells(end.kind === "failed" ? end.reason : "", text)) {
      const level = end.kind === "clean" ? "info" : "warn";
      await record(tx, now, { source: "agent", agent, turnId, type: "error_output", level, data: { text } });
    }
    await record(tx, now, {
      source: "supervisor",
      agent,
      turnId,
      type: "turn_end",
      level: settlement.turn === "settled" ? "info" : "warn",
      data: { end: ending.end, state: settlement.state, outcome: settlement.outcome, exit: ending.exit },
    });
    if (terminal !== undefined) await warnOfScope(tx, settled, ending.worktree);
    return settlement;
  });
}

/** A turn and its agent before the end, with the decision about both. */
interface SettledTurn {
  readonly turn: Turn;
  readonly agent: Agent;
  readonly settlement: Settlement;
  readonly now: number;
}

const dollarsOf = ({ costMicros }: TurnCost): number | null => (costMicros === null ? null : costMicros / 1_000_000);

/**
 * Files changed outside the agent's scope without a stated reason are put on record; the agent is not stopped for it.
 */
async function warnOfScope(tx: Tx, { agent, turn, now }: SettledTurn, facts: WorktreeFacts | undefined): Promise<void> {
  if (facts === undefined || agent.scope.length === 0) return;
  const sent = await tx.messages.list({ from: agent.name });
  const mailSubjects = sent.map(({ subject }) => subject);
  const warning = scopeWarning({ agent, changed: facts.files, commitBodies: facts.messages, mailSubjects });
  if (warning !== undefined) await record(tx, now, { source: "supervisor", agent, turnId: turn.id, ...warning });
}

async function inspected(tx: Tx, agent: Agent, facts: WorktreeFacts | undefined): Promise<Agent> {
  if (facts === undefined || !facts.exists) return agent;
  const seen = { headCommit: facts.head, ahead: facts.ahead, dirty: facts.dirty };
  await tx.agents.inspected(agent.id, seen);
  return { ...agent, ...seen };
}

/** The message by which the agent declared its work finished while this turn was running. */
async function terminalMail(tx: Tx, turn: Turn, agent: Agent): Promise<Message | undefined> {
  const sent = await tx.messages.ofTurn(turn.id, terminalCandidates(agent.capability));
  return sent.find(({ type, address }) =>
    isTerminal({ capability: agent.capability, type, toParent: address === agent.parentName }),
  );
}

async function decide(
  tx: Tx,
  ports: SettlePorts,
  turn: Turn,
  agent: Agent,
  { ending, terminal, now }: { ending: Ending; terminal: Message | undefined; now: number },
): Promise<Settlement> {
  if (ending.end.kind === "clean" && terminal === undefined) await waitForOpenTasks(tx, agent, now);
  // A rate limit explains nothing once its turn is over: what became of it is in how the turn ended.
  const waits = (await tx.waits.of(agent.name)).filter(({ kind }) => kind !== "rate_limit");
  return settle({
    end: ending.end,
    stopRequestedBy: agent.stopRequestedBy,
    takenOver: waits.some(isAttachHold),
    terminalMail: terminal !== undefined,
    // An agent with an open check gets an answer: the end of its life, or a list of missing points.
    outstanding: waits.length > 0 || (await tx.deliveries.hasWaking(agent.name)) || (await tx.checks.dueWork(agent.id)),
    persistent: isIn("persistent", agent.capability),
    reminders: agent.reminders,
    maxReminders: ports.settings.agents.continuePrompts,
    attempt: turn.attempt,
    maxAttempts: ports.limits.maxAttempts,
    parksBefore: await parksBefore(tx, agent.id, turn.id),
    resumed: turn.resumeRequested !== null,
    spent: (ending.costUsd ?? 0) > 0 || (await tx.usage.ofTurn(turn.id)).length > 0,
    now,
  });
}

/** The sort of failure, and what a person can do: nothing while it is tried again at once, or once the agent is done. */
function troubleOf(agent: Agent, { end, advice }: Ending, settlement: Settlement): Pick<Turn, "failure" | "advice"> {
  const cause = end.kind === "failed" ? end.cause : null;
  const ended = settlement.state === "zombie";
  const parked = settlement.state === "between_turns" && isTransient(cause);
  return {
    failure: cause,
    advice: ended || parked ? failureAdvice(cause ?? "unknown", agent.name, advice) : null,
  };
}

function errorOf(end: TurnEnd): string | null {
  if (end.kind === "clean") return null;
  return end.kind === "failed" ? end.reason : end.kind;
}

async function moveAgent(
  tx: Tx,
  ports: SettlePorts,
  { turn, agent, settlement, now }: SettledTurn,
  { ending, advice }: { readonly ending: Ending; readonly advice: string | null },
): Promise<void> {
  const { state, outcome, death } = settlement;
  const actor = agent.stopRequestedBy === null ? "supervisor" : stopEnd(agent.stopRequestedBy).actor;
  const reason = death ?? ending.end.kind;
  if (outcome === null || (state !== "completed" && state !== "zombie")) {
    await changeState(tx, agent, { to: state, actor, reason }, now);
    return;
  }
  const { exit } = ending;
  const told = outcome === "no_signal" ? await unfinished(tx, agent, ending) : { death, kept: ending.kept };
  const end = { state, outcome, actor, reason, ...told, advice, turnId: turn.id, exit };
  const notifyDeaths = ports.settings.watchdog.notifyParentOnDeath;
  await endAgent(tx, { ids: ports.ids, now, notifyDeaths }, agent, end);
}

/** An agent that did not finish is reported as just that: whether it ever called finish, and the commits it leaves. */
async function unfinished(tx: Tx, agent: Agent, { worktree, kept }: Ending): Promise<Pick<AgentEnd, "death" | "kept">> {
  const asked = await tx.checks.completionsOf(agent.id);
  const facts = { agent, asked, commits: worktree?.messages ?? [], offBranch: worktree?.offBranch ?? null };
  return { death: neverFinished(facts), kept: kept ?? leftUnfinished(facts) };
}

async function queueNext(tx: Tx, { ids }: SettlePorts, settled: SettledTurn, { end }: Ending): Promise<void> {
  const { turn, agent, settlement, now } = settled;
  const queue = { id: ids.next("turn"), agentId: agent.id, agentName: agent.name, runId: agent.runId, now };
  const { next } = settlement;
  if (next.kind === "retry") {
    const attempt = next.countsAttempt ? turn.attempt + 1 : turn.attempt;
    // Mail that came meanwhile queued a turn of its own; the retry carries that mail too, and keeps its own time.
    await tx.turns.cancelQueued(agent.id, now);
    await tx.turns.queue({
      ...queue,
      trigger: "retry",
      reason: cutShort(settlement, end),
      attempt,
      notBefore: next.notBefore,
    });
  }
  // Only reminders in a row show that an agent does not know how to end. An agent that waits on purpose does know.
  const waits = next.kind === "none" && settlement.state === "between_turns" && settlement.input === "ack";
  if (waits && agent.reminders > 0) await tx.agents.setReminders(agent.id, 0);
  // A turn takes only so much mail, and may not have shown all it took: the rest would wait until another message
  // comes.
  const left =
    settlement.state === "between_turns" && next.kind !== "retry"
      ? await tx.deliveries.nextWaking(agent.name)
      : undefined;
  if (left !== undefined) {
    await tx.turns.queue({ ...queue, trigger: "mail", attempt: 1, notBefore: left });
    return;
  }
  if (next.kind === "reminder") {
    // A turn may be queued for mail that this one has read meanwhile. It would be dropped, and the reminder with it.
    await tx.turns.cancelQueued(agent.id, now);
    await tx.agents.setReminders(agent.id, agent.reminders + 1);
    const reason = "the last turn ended without a finish and without a wait";
    await tx.turns.queue({ ...queue, trigger: "reminder", reason, attempt: 1, notBefore: 0 });
  }
}

/** Why the same input is tried again. A turn that a person interrupted counts as settled. */
function cutShort({ turn }: Settlement, end: TurnEnd): string {
  if (turn === "settled") return "a person interrupted the last turn";
  return end.kind === "failed" ? `the last turn failed: ${firstLine(end.reason)}` : "the last turn went silent";
}

const firstLine = (words: string): string => words.split("\n")[0] ?? "";

interface Context {
  readonly ids: Ids;
  readonly now: number;
}

/** What becomes of the mail a turn carried: acknowledged, back in the queue, or inherited by the agent's heir. */
async function settleInput(tx: Tx, { ids }: SettlePorts, settled: SettledTurn): Promise<void> {
  const { turn, agent, settlement, now } = settled;
  const context = { ids, now };
  const heir = settlement.input === "dead" ? await heirOf(tx, agent) : undefined;
  for (const mail of await tx.deliveries.ofTurn(turn.id)) {
    if (heir !== undefined && (await handOn(tx, context, mail, heir.name))) continue;
    await move(tx, context, counted(mail, settlement), eventFor(settlement, turn, mail.delivery));
  }
}

/** Mail has seen as many attempts as turns that failed with it; being parked is none. */
function counted({ message, delivery }: Mail, { input, next }: Settlement): Mail {
  const failed = input === "dead" || (next.kind === "retry" && next.countsAttempt);
  return { message, delivery: failed ? { ...delivery, attempts: delivery.attempts + 1 } : delivery };
}

function eventFor(settlement: Settlement, turn: Turn, { state }: Delivery): DeliveryEvent {
  // Mail that a command took for the turn and did not live to show was not seen.
  if (settlement.input === "ack") return { kind: state === "claimed" ? "release" : "ack", by: turn.id };
  if (settlement.input === "dead") return { kind: "kill", error: settlement.death ?? "its turns failed" };
  return { kind: "release", by: turn.id };
}

async function move(tx: Tx, context: Context, { message, delivery }: Mail, event: DeliveryEvent): Promise<boolean> {
  const next = nextDelivery(delivery, event, context.now);
  if (!next.ok) return false;
  await tx.deliveries.update(next.value);
  // The input of a turn is given up only with its agent.
  if (next.value.state === "dead")
    await reportDead(tx, context, { message, delivery: next.value }, { readerEnds: true });
  return true;
}

/** The successor, else the parent, if they live; the operator is told by the dead letter instead. */
async function heirOf(tx: Tx, agent: Agent): Promise<Agent | undefined> {
  for (const name of [agent.successorName, agent.parentName]) {
    const heir = name === null ? undefined : await tx.agents.byName(name);
    if (heir !== undefined && !hasEnded(heir)) return heir;
  }
  return undefined;
}
