import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { waitingCircles } from "../../domain/coordination/waiting-circles.ts";
import type { Message } from "../../domain/mail/types.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { isAnyLanding } from "../agents/held-agents.ts";
import { hasTurnsAhead, startIdle, whoCanAnswer } from "../agents/turns-ahead.ts";
import { notice, record } from "../events/record.ts";
import { nearestLiveAncestor } from "../mail/hand-on.ts";
import { fromEngine, post, tellOperator, wakeUp } from "../mail/post.ts";
import { isWokenAgain, stillnessOf } from "../operator/troubled-agents.ts";
import type { Context } from "../usecase.ts";
import { announceFinished, announcePhases } from "./announce-phases.ts";

type GoingContext = Pick<Context, "ids" | "now">;

/**
 * The one place that asks whether a run has something to decide for which nothing else will start a turn. Call it last
 * in each transaction that ends something: a turn (dropped ones too), an agent, its release, the way of a branch
 * through the queue, a wait. Each engine calls it once when it starts.
 */
export async function keepGoing(tx: Tx, context: GoingContext, runId: string | null): Promise<void> {
  const runs = new Set(runId === null ? [] : [runId]);
  for (const asker of await endVainWaits(tx, context)) runs.add(asker.runId);
  for (const id of runs) {
    const run = await tx.runs.get(id);
    if (run === undefined) continue;
    const everybody = newestPerName(await tx.agents.list({ runId: id }));
    await announceFinished(tx, context, run, everybody);
    await announcePhases(tx, context, run, everybody);
    await startForReports(tx, context, everybody);
    await tellOfStandstill(tx, context, run, everybody, await tellOfCircles(tx, context, run));
  }
}

/**
 * The same for every run with an agent that lives, and a turn for each of them whose mail wakes it and that has none: an
 * earlier version may have left it so. True when there is a turn to start by now.
 */
export async function wakeSleepers(tx: Tx, context: GoingContext): Promise<boolean> {
  const live = await tx.agents.list({ live: true });
  for (const { id, name } of live) {
    const due = await tx.deliveries.nextWaking(name);
    const turn = (await tx.turns.runningFor(id)) ?? (await tx.turns.queuedFor(id));
    if (due !== undefined && turn === undefined) await wakeUp(tx, context.ids, name, due, context.now);
  }
  for (const runId of new Set(live.map((agent) => agent.runId))) await keepGoing(tx, context, runId);
  return tx.turns.dueWork(context.now);
}

/**
 * Ends waits for an answer that can no longer come: the agent that was asked has ended. Where asker and asked wait for
 * each other, the asked one is told. Returns the agents that wait no longer.
 */
async function endVainWaits(tx: Tx, context: GoingContext): Promise<readonly Agent[]> {
  const freed: Agent[] = [];
  for (const { agentName, kind, ref } of await tx.waits.ofKind("reply")) {
    const asker = await tx.agents.byName(agentName);
    const names = await whoCanAnswer(tx, ref);
    if (names.length > 0) {
      if (asker !== undefined) await askAgain(tx, context, { asker, question: ref, names });
      continue;
    }
    await tx.waits.remove(agentName, kind, ref);
    const asked = await tx.messages.get(ref);
    const what = asked === undefined ? ref : `"${asked.subject}" (${ref})`;
    await startIdle(tx, context, agentName, `no agent is left that can answer the question ${what}`);
    if (asker !== undefined) freed.push(asker);
  }
  return freed;
}

interface OpenQuestion {
  readonly asker: Agent;
  readonly question: string;
  /** The agents that can answer it. */
  readonly names: readonly string[];
}

/** Tells those once who have read a question, wait for nothing but its asker, and would sleep as long as it does. */
async function askAgain(tx: Tx, context: GoingContext, { asker, question, names }: OpenQuestion): Promise<void> {
  if (await hasTurnsAhead(tx, asker.name)) return;
  const asked = await tx.messages.get(question);
  for (const name of names) {
    const agent = await tx.agents.byName(name);
    if (asked === undefined || agent === undefined || hasEnded(agent)) continue;
    if (await notice(tx, { kind: "unanswered", about: question, key: agent.id })) {
      await post(tx, context, { ...fromEngine, ...unanswered(asked, agent) });
    }
  }
}

const unanswered = ({ id, fromAgent, subject }: Message, { name, runId }: Agent) =>
  ({
    runId,
    address: name,
    recipients: [{ name, wake: true, reason: "an agent waits for its answer, and nothing else goes on for either" }],
    subject: `[ENGINE] ${fromAgent} waits for your answer`,
    body: `${fromAgent} asked "${subject}" (${id}) and does nothing until you answer, and you wait for ${fromAgent}. Answer it: ov mail reply ${id} --body "<answer>"`,
    type: "status",
    priority: "high",
    replyTo: id,
  }) as const;

/**
 * The report of a lead whose branches land is held until they have landed (`wakeUps`). Once nothing of its team is at work
 * or landing, the turn that the report asked for is due.
 */
async function startForReports(tx: Tx, context: GoingContext, everybody: readonly Agent[]): Promise<void> {
  const parents = new Set(everybody.map(({ parentName }) => parentName));
  for (const reader of everybody) {
    if (!parents.has(reader.name) || hasEnded(reader)) continue;
    const queued = await tx.turns.queuedFor(reader.id);
    if (queued?.trigger !== "mail" || queued.notBefore <= context.now) continue;
    for (const { message, delivery } of await tx.deliveries.inState(reader.name, ["queued"])) {
      if (message.type !== "worker_done" || !delivery.wake || !parents.has(message.fromAgent)) continue;
      const team = everybody.filter(({ parentName }) => parentName === message.fromAgent);
      if (team.some((one) => !hasEnded(one)) || (await isAnyLanding(tx, team))) continue;
      await wakeUp(tx, context.ids, reader.name, 0, context.now);
    }
  }
}

/**
 * Agents of this run that wait for each other, which nothing will wake. The agent above them is told once for these
 * questions; where there is none, or it lets them wait and will have no turn either, the operator. Returns all such
 * agents.
 */
async function tellOfCircles(tx: Tx, context: GoingContext, run: Run): Promise<ReadonlySet<string>> {
  const told = new Set<string>();
  if (run.status !== "active") return told;
  for (const circle of await circlesOfWaits(tx)) {
    const members = await waitersIn(tx, circle);
    const [first] = members;
    if (first === undefined || !members.some(({ agent }) => agent.runId === run.id)) continue;
    for (const name of circle) told.add(name);
    const questions = members.flatMap(({ asked }) => (asked === undefined ? [] : [asked.id]));
    const isNews = (reader: string) =>
      notice(tx, { kind: "stands_still", about: first.agent.id, key: [...questions, reader].join(" ") });
    const above = await readerAbove(tx, members);
    if (above !== undefined && (await isNews(above.id))) {
      await post(tx, context, { ...fromEngine, runId: run.id, ...circleLetter(members), ...toAgent(above.name) });
    } else if ((above === undefined || !(await hasTurnsAhead(tx, above.name))) && (await isNews("operator"))) {
      const problem = `it waits in a circle: ${circleWords(members)}`;
      const advice = `answer in one's place: ${answers(members)}; or tell one what to do: ${nudge(first.agent.name)}`;
      const agent = members.find((one) => one.agent.name === run.coordinatorName)?.agent ?? first.agent;
      await alarm(tx, context, { run, agent, problem, advice, subject: circleSubject(members) });
    }
  }
  return told;
}

interface CircleMember {
  readonly agent: Agent;
  /** The question that it waits for; undefined for a parent that waits for the end of a child. */
  readonly asked: Message | undefined;
}

async function circlesOfWaits(tx: Tx): Promise<ReturnType<typeof waitingCircles>> {
  const waitsFor = new Map<string, string[]>();
  const replies = await tx.waits.ofKind("reply");
  // Without two questions, or a parent that waits for a child with a question, there is no circle.
  if (replies.length === 0) return [];
  const add = (name: string, others: readonly string[]) =>
    waitsFor.set(name, [...(waitsFor.get(name) ?? []), ...others]);
  for (const { agentName, ref } of replies) add(agentName, await whoCanAnswer(tx, ref));
  for (const { agentName, ref } of await tx.waits.ofKind("child")) add(agentName, [ref]);
  const waiters = [...waitsFor].map(async ([name, others]) => ({
    name,
    isWoken: await isWokenAgain(tx, name),
    waitsFor: others,
  }));
  return waitingCircles(await Promise.all(waiters));
}

async function waitersIn(tx: Tx, circle: readonly string[]): Promise<readonly CircleMember[]> {
  const found: CircleMember[] = [];
  for (const name of circle) {
    const agent = await tx.agents.byName(name);
    const question = (await tx.waits.of(name)).find(({ kind }) => kind === "reply")?.ref;
    const asked = question === undefined ? undefined : await tx.messages.get(question);
    if (agent !== undefined) found.push({ agent, asked });
  }
  return found;
}

/** The one live agent above all of them, outside of the circle. */
async function readerAbove(tx: Tx, members: readonly CircleMember[]): Promise<Agent | undefined> {
  const names = new Set(members.map(({ agent }) => agent.name));
  const above = new Set<string>();
  for (const { agent } of members) {
    const passed = new Set<string>();
    let name = await nearestLiveAncestor(tx, agent.parentName);
    // Where the name of a released parent was given to an agent below it, the way upwards leads in a circle.
    while (names.has(name) && !passed.has(name)) {
      passed.add(name);
      const inside = await tx.agents.byName(name);
      name = await nearestLiveAncestor(tx, inside?.parentName ?? "operator");
    }
    above.add(names.has(name) ? "operator" : name);
  }
  const [reader, ...others] = above;
  return reader === undefined || others.length > 0 ? undefined : tx.agents.byName(reader);
}

const circleSubject = (members: readonly CircleMember[]): string =>
  `${members.map(({ agent }) => agent.name).join(" and ")} wait for each other`;

const circleWords = (members: readonly CircleMember[]): string =>
  members
    .map(({ agent: { name }, asked }) =>
      asked === undefined
        ? `${name} waits for the end of its child`
        : `${name} asked ${asked.address}: "${asked.subject}" (${asked.id})`,
    )
    .join("; ");

const circleLetter = (members: readonly CircleMember[]) =>
  ({
    subject: `[ENGINE] ${circleSubject(members)}`,
    body: `${circleWords(members)}. Each has ended its turn and does nothing before it is answered, and nothing else will wake them. Tell one what it needs to know: ${nudge(members[0]?.agent.name ?? "")}`,
    type: "status",
    priority: "high",
  }) as const;

const toAgent = (name: string) => ({
  address: name,
  recipients: [{ name, wake: true, reason: "agents below it wait for each other, and nothing else will wake them" }],
});

const nudge = (name: string): string => `ov nudge ${name} "<what it needs to know>"`;

const answers = (members: readonly CircleMember[]): string =>
  members
    .flatMap(({ asked }) => (asked === undefined ? [] : [`ov mail reply ${asked.id} --body "<answer>"`]))
    .join(", or ");

/**
 * Tells the operator once of a coordinator that ended its turn although nothing else goes on in its run, and of an
 * agent that waits for an answer which no turn will give. No agent will mention it, so the run would stand still
 * unnoticed. `told`: agents of which it was told already.
 */
async function tellOfStandstill(
  tx: Tx,
  context: GoingContext,
  run: Run,
  everybody: readonly Agent[],
  told: ReadonlySet<string>,
): Promise<void> {
  if (run.status !== "active" || run.objective === null) return;
  const asking = new Set((await tx.waits.ofKind("reply")).map(({ agentName }) => agentName));
  for (const agent of everybody) {
    if (hasEnded(agent) || told.has(agent.name)) continue;
    if (agent.name !== run.coordinatorName && !asking.has(agent.name)) continue;
    const still = await stillnessOf(tx, agent);
    const last = still === undefined ? undefined : (await tx.turns.listFor(agent.id)).at(-1);
    if (still === undefined || last === undefined) continue;
    if (!(await notice(tx, { kind: "stands_still", about: agent.id, key: last.id }))) continue;
    await alarm(tx, context, {
      run,
      agent,
      ...still,
      subject: `${agent.name} stands still, and run ${run.id} with it`,
    });
  }
}

interface Alarm {
  readonly run: Run;
  readonly agent: Agent;
  readonly subject: string;
  readonly problem: string;
  readonly advice: string;
}

async function alarm(tx: Tx, context: GoingContext, { run, agent, subject, problem, advice }: Alarm): Promise<void> {
  await record(tx, context.now, {
    source: "engine",
    agent,
    type: "stands_still",
    level: "warn",
    data: { problem, advice },
  });
  await tellOperator(tx, context, {
    runId: run.id,
    subject,
    body: `${agent.name}: ${problem}\n\nNext: ${advice}`,
    type: "escalation",
    priority: "high",
    payload: JSON.stringify({ severity: "warning", taskId: agent.taskId, context: problem }),
  });
}
