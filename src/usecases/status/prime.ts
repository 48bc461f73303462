import { type Agent, hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Run } from "../../domain/run/run.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Checkpoint, Identity, Wait } from "../../ports/store/agents.ts";
import type { Tx } from "../../ports/store.ts";
import { type Note, notesOf } from "../agents/inspect.ts";
import { waitingForOperator } from "../operator/inbox.ts";
import { unclosedTasks } from "../tasks/task-detail.ts";
import type { Context, UseCase } from "../usecase.ts";

/** What a person who leads the team must know to go on. */
export interface PersonBrief {
  readonly kind: "person";
  readonly project: { readonly name: string; readonly canonicalBranch: string };
  readonly limits: {
    readonly maxConcurrent: number;
    readonly maxDepth: number;
    readonly maxAgentsPerLead: number;
    readonly maxSessionsPerRun: number;
  };
  readonly run: Run | null;
  readonly liveAgents: number;
  readonly openTasks: number;
  readonly readyTasks: number;
  readonly unread: number;
  /** The newest runs, newest first. */
  readonly recentRuns: readonly Run[];
  /** What agents of the current run wrote down for others, newest last. */
  readonly remembered: readonly Note[];
  /** How many entries `ov inbox` shows beside the mail. */
  readonly waiting: number;
}

/** What an agent must know about itself to go on. */
export interface AgentBrief {
  readonly kind: "agent";
  readonly project: { readonly name: string; readonly canonicalBranch: string };
  readonly agent: Agent;
  readonly submitted: boolean;
  readonly task: Task | null;
  readonly waits: readonly Wait[];
  readonly unread: number;
  /** What the name has done over all its incarnations. */
  readonly identity: Identity | null;
  /** Where it stood when its last turn ended, or as it said itself. */
  readonly checkpoint: Checkpoint | null;
  /** Its newest turns, newest last. */
  readonly recentTurns: readonly Turn[];
  /** What agents of its run wrote down for others, newest last. */
  readonly remembered: readonly Note[];
}

const shownSessions = 3;
const shownNotes = 5;

/**
 * Brings the caller up to date. An agent is told about itself alone; a person about the project, or about the agent
 * they name. Nothing is stored by looking.
 */
export const prime: UseCase<{ readonly agent?: string | undefined }, PersonBrief | AgentBrief> = {
  kind: "read",
  request: fields({}, { agent: text }),
  run: async (tx, context, request) => {
    const subject = await subjectOf(tx, context.caller, request.agent);
    if (!subject.ok) return subject;
    return ok(
      subject.value === undefined ? await personBrief(tx, context) : await agentBrief(tx, context, subject.value),
    );
  },
};

async function subjectOf(
  tx: Tx,
  caller: Caller,
  named: string | undefined,
): Promise<Result<Agent | undefined, Refusal>> {
  if (caller.kind === "agent") {
    if (named !== undefined && named !== caller.name) {
      const why = "an agent is only told about itself";
      return no({ kind: "not-allowed", action: `prime ${named}`, caller: caller.name, why });
    }
    const own = await tx.agents.get(caller.agentId);
    return own === undefined ? no(notFound("agent", caller.name)) : ok(own);
  }
  if (named === undefined || named === "operator") return ok(undefined);
  const agent = await tx.agents.byName(named);
  // A person's own session is called so by its hooks; it has no row.
  if (named === "orchestrator" && (agent === undefined || hasEnded(agent))) return ok(undefined);
  return agent === undefined ? no(notFound("agent", named, nearest(named, await tx.agents.names()))) : ok(agent);
}

async function personBrief(tx: Tx, { settings }: Context): Promise<PersonBrief> {
  const { maxConcurrent, maxDepth, maxAgentsPerLead, maxSessionsPerRun } = settings.agents;
  const tasks = await unclosedTasks(tx);
  const live = await tx.agents.list({ live: true });
  const run = (await tx.runs.current()) ?? null;
  return {
    kind: "person",
    project: projectOf(settings),
    limits: { maxConcurrent, maxDepth, maxAgentsPerLead, maxSessionsPerRun },
    run,
    recentRuns: await tx.runs.list(shownSessions),
    remembered: run === null ? [] : await notesOf(tx, run.id, shownNotes),
    liveAgents: new Set(live.map(({ name }) => name)).size,
    openTasks: tasks.unclosed.length,
    readyTasks: tasks.ready.length,
    unread: await tx.deliveries.countQueued("operator"),
    waiting: Object.values(await waitingForOperator(tx)).reduce((sum, list) => sum + list.length, 0),
  };
}

async function agentBrief(tx: Tx, { settings }: Context, agent: Agent): Promise<AgentBrief> {
  return {
    kind: "agent",
    project: projectOf(settings),
    agent,
    submitted: isSubmitted(agent),
    task: agent.taskId === null ? null : ((await tx.tasks.get(agent.taskId)) ?? null),
    waits: await tx.waits.of(agent.name),
    unread: await tx.deliveries.countQueued(agent.name),
    identity: (await tx.recovery.identity(agent.name)) ?? null,
    checkpoint: (await tx.recovery.checkpoint(agent.name)) ?? null,
    recentTurns: await tx.turns.newestOf([agent.id], shownSessions),
    remembered: await notesOf(tx, agent.runId, shownNotes),
  };
}

const projectOf = ({ project }: Context["settings"]): PersonBrief["project"] => ({
  name: project.name,
  canonicalBranch: project.canonicalBranch,
});
