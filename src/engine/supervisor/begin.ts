import type { Agent } from "../../domain/agent/agent.ts";
import { type Allowance, allowanceOf } from "../../domain/budget/ledger.ts";
import type { Missing } from "../../domain/completion/check.ts";
import { parseDone } from "../../domain/completion/request.ts";
import { missingFrom } from "../../domain/completion/rules.ts";
import type { Letter } from "../../domain/mail/letter.ts";
import { reopens } from "../../domain/mail/recipient.ts";
import type { Message } from "../../domain/mail/types.ts";
import { countsBeforeFinish } from "../../domain/mail/wake.ts";
import type { ProcessRecord } from "../../domain/process/process.ts";
import type { Recall } from "../../domain/turn/prompt.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";
import { roleFacts } from "../../usecases/completions/role-facts.ts";
import { shownByRefusal } from "../../usecases/mail/before-finish.ts";
import { changedSince } from "../../usecases/mail/fold-mail.ts";
import type { SupervisorPorts } from "./ports.ts";

/** Everything a supervisor needs to know about the turn it took. */
export interface OwnedTurn {
  readonly turn: Turn;
  readonly agent: Agent;
  readonly fence: number;
  readonly letters: readonly Letter[];
  /** What a reminded agent lacks before it could finish. */
  readonly lacks: readonly Missing[];
  /** What the turn may take of each budget before it is ended. */
  readonly allowance?: Allowance | undefined;
  /** The version of the role's text that the conversation was last told; null when that is not known, or nothing yet. */
  readonly knows?: string | null;
  /** What a conversation that was lost must be told again. */
  readonly recall?: Recall | undefined;
  /** The agent's process, when an earlier supervisor already started it. */
  readonly started: ProcessRecord | undefined;
}

export const turnLease = (turnId: string): string => `turn:${turnId}`;

/** Takes the turn: records our identity and holds its lease. Undefined when a supervisor with a higher fence has it. */
export async function beginTurn(ports: SupervisorPorts, turnId: string, fence: number): Promise<OwnedTurn | undefined> {
  return ports.store.transaction(async (tx) => {
    const turn = await tx.turns.get(turnId);
    if (turn === undefined || turn.status !== "running" || turn.fence !== fence) return undefined;
    const agent = await tx.agents.get(turn.agentId);
    if (agent === undefined) return undefined;
    const known = await tx.processes.liveForTurn(turnId);
    for (const earlier of known.filter((process) => process.role === "supervisor")) {
      await tx.processes.end(earlier.id, "replaced", ports.clock.now());
    }
    const id = ports.ids.next("process");
    await tx.processes.insert({
      id,
      role: "supervisor",
      agentId: agent.id,
      turnId,
      ...ports.processes.self(),
      startedAt: ports.clock.now(),
      endedAt: null,
      endReason: null,
    });
    await tx.leases.hold(turnLease(turnId), fence, id);
    const started = known.find((process) => process.role === "agent");
    const recall = started === undefined ? await recallFor(tx, turn, agent) : undefined;
    const held = await tx.budgets.heldBy(turnId);
    const allowance = allowanceOf(
      ports.settings.budgets,
      await tx.budgets.of(held.filter(({ unit }) => unit === "turns")),
      held,
    );
    return {
      turn,
      agent,
      fence,
      letters: await lettersOf(tx, turnId, agent),
      lacks: turn.trigger === "reminder" ? await lacksOf(tx, agent) : [],
      recall,
      allowance,
      knows: await knownText(tx, turn),
      started,
    };
  });
}

/** What `finish` would refuse, by what the store knows of the agent's work since its last turn. Gates are not asked. */
async function lacksOf(tx: Tx, agent: Agent): Promise<readonly Missing[]> {
  const bare = parseDone({ summary: "unsaid" });
  if (!bare.ok) return [];
  const { headCommit: head, ahead, dirty, worktreeKind } = agent;
  const hasOwnTree = head !== null && worktreeKind !== "root";
  const work = hasOwnTree
    ? { exists: true, head, ahead, messages: [], dirty, onBranch: true, halfWay: null, files: [] }
    : null;
  const facts = await roleFacts(tx, agent, bare.value);
  const mail = await shownByRefusal(tx, agent);
  const missing = missingFrom({ agent, request: bare.value, work, unmerged: [], ...facts });
  return mail === undefined ? missing : [mail, ...missing];
}

/** What a turn that failed was told its model may never have read. */
async function knownText(tx: Tx, { agentId, resumeRequested }: Turn): Promise<string | null> {
  if (resumeRequested === null) return null;
  const earlier = await tx.turns.listFor(agentId);
  return (
    earlier.findLast(({ clean, resumeObserved }) => clean === true && resumeObserved === resumeRequested)?.prompt ??
    null
  );
}

async function lettersOf(tx: Tx, turnId: string, agent: Agent): Promise<Letter[]> {
  const letters: Letter[] = [];
  for (const { message, delivery } of await tx.deliveries.ofTurn(turnId)) {
    const sender = message.fromAgentId === null ? undefined : await tx.agents.get(message.fromAgentId);
    const whole = countsBeforeFinish(message, delivery, agent);
    letters.push({
      message,
      capability: sender?.capability ?? null,
      redelivered: delivery.redelivered,
      whole,
      ...(await sinceOf(tx, message)),
    });
  }
  return letters;
}

async function sinceOf(tx: Tx, message: Message): Promise<Pick<Letter, "since">> {
  const since = await changedSince(tx, message);
  return since === undefined ? {} : { since };
}

/** Enough to go on with; a conversation that was too long must not become so again at once. */
const mostLetters = 10;
const mostCharacters = 50_000;
const mostLooked = 100;

/**
 * The facts with which a new conversation replaces a lost one: where the agent stood, and the mail that gave it work
 * and that it has not answered. Undefined for an agent whose conversation goes on, or that never had one.
 */
async function recallFor(tx: Tx, turn: Turn, agent: Agent): Promise<Recall | undefined> {
  if (turn.resumeRequested !== null) return undefined;
  const earlier = await tx.turns.listFor(agent.id);
  if (!earlier.some(({ id, resumeRequested }) => id !== turn.id && resumeRequested !== null)) return undefined;
  const checkpoint = await tx.recovery.checkpoint(agent.name);
  return {
    summary: checkpoint?.summary ?? "",
    files: checkpoint?.files ?? [],
    pending: checkpoint?.pending ?? "",
    letters: await unfinishedMail(tx, turn, agent),
  };
}

async function unfinishedMail(tx: Tx, turn: Turn, { name }: Agent): Promise<Letter[]> {
  const carried = new Set((await tx.deliveries.ofTurn(turn.id)).map(({ message }) => message.id));
  const answered = new Set((await tx.messages.list({ from: name, limit: mostLooked })).map(({ replyTo }) => replyTo));
  const letters: Letter[] = [];
  let characters = 0;
  for (const message of await tx.messages.list({ to: name, limit: mostLooked })) {
    if (carried.has(message.id) || answered.has(message.id) || !reopens({ ...message, wake: false })) continue;
    const delivery = await tx.deliveries.get(message.seq, name);
    if (delivery?.state !== "acked") continue;
    characters += message.body.length;
    if (letters.length === mostLetters || characters > mostCharacters) break;
    letters.push({ message, capability: null, redelivered: true });
  }
  return letters.reverse();
}
