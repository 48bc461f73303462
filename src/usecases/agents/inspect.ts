import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import type { TokenCounts } from "../../domain/budget/usage.ts";
import { noSpending } from "../../domain/cost/spending.ts";
import type { Event } from "../../domain/event/event.ts";
import { type ToolStep, turnStory } from "../../domain/event/turn-story.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { ok } from "../../domain/result.ts";
import { fields, text, whole } from "../../domain/schema/schema.ts";
import type { Checkpoint, Identity, Wait } from "../../ports/store/agents.ts";
import type { Tx } from "../../ports/store.ts";
import { type TracedTurn, tracedTurn } from "../events/trace.ts";
import type { Stream } from "../operation.ts";
import type { UseCase } from "../usecase.ts";
import { findAgent } from "./find-agent.ts";

export interface InspectRequest {
  readonly name: string;
  /** How many of the newest tool calls. */
  readonly limit: number;
}

/** How often a tool was used, of the newest calls. Durations are null where none is known. */
export interface ToolUse {
  readonly tool: string;
  readonly count: number;
  readonly failed: number;
  readonly averageMs: number | null;
  readonly longestMs: number | null;
}

/** Everything about one agent. */
export interface Inspection {
  readonly agent: Agent;
  /** Of its program, while a turn runs. */
  readonly pid: number | null;
  readonly identity: Identity | null;
  readonly checkpoint: Checkpoint | null;
  readonly waits: readonly Wait[];
  readonly unread: number;
  readonly turnCount: number;
  /** The newest ones, oldest first. */
  readonly turns: readonly TracedTurn[];
  /** The files that its newest calls wrote, and those it had changed when its last turn ended. */
  readonly files: readonly string[];
  /** The file of its newest call, while that names one. */
  readonly currentFile: string | null;
  readonly tokens: TokenCounts & { readonly model: string | null };
  /** Of the turns whose cost is known; null when none is. */
  readonly costMicros: number | null;
  readonly tools: readonly ToolUse[];
  readonly calls: readonly ToolStep[];
  readonly now: number;
}

const inspectRequest = () => fields<InspectRequest>({ name: text, limit: whole });

/** An agent's identity, state, last steps and usage. */
export const inspectAgent: UseCase<InspectRequest, Inspection> = {
  kind: "read",
  request: inspectRequest(),
  run: async (tx, { now }, { name, limit }) => {
    const found = await findAgent(tx, name);
    if (!found.ok) return found;
    const agent = found.value;
    const turns: TracedTurn[] = [];
    for (const turn of await tx.turns.newestOf([agent.id], shownTurns)) turns.push(await tracedTurn(tx, turn));
    const calls = await newestCalls(tx, agent);
    const checkpoint = (await tx.recovery.checkpoint(agent.name)) ?? null;
    const used = await usedBy(tx, agent);
    const last = calls.at(-1);
    const processes = await tx.processes.liveForAgent(agent.id);
    return ok({
      agent,
      pid: processes.find(({ role }) => role === "agent")?.pid ?? null,
      identity: (await tx.recovery.identity(agent.name)) ?? null,
      checkpoint,
      waits: await tx.waits.of(agent.name),
      unread: await tx.deliveries.countQueued(agent.name),
      turnCount: used.turns,
      turns,
      files: touched(calls, checkpoint, agent.worktreePath),
      currentFile: last !== undefined && isAboutFile(last) ? last.summary : null,
      tokens: used.tokens,
      costMicros: used.costMicros,
      tools: toolUses(calls),
      calls: calls.slice(-limit),
      now,
    });
  },
};

/** The ledger holds ended turns as one sum, however many there are; the running turn is added to it. */
async function usedBy(tx: Tx, { id }: Agent) {
  const [settled = noSpending] = await tx.spending.sumsOf("session", [id]);
  const running = await tx.turns.runningFor(id);
  const told = running === undefined ? [] : await tx.usage.ofTurn(running.id);
  const sum = (name: keyof TokenCounts): number => told.reduce((all, one) => all + one[name], settled[name]);
  const newestModel = told.findLast(({ model }) => model !== null)?.model ?? (await tx.spending.newestOf(id))?.model;
  return {
    turns: settled.turns + (running === undefined ? 0 : 1),
    tokens: {
      input: sum("input"),
      output: sum("output"),
      cacheRead: sum("cacheRead"),
      cacheWrite: sum("cacheWrite"),
      model: newestModel ?? null,
    },
    costMicros: settled.turns === settled.unpriced ? null : settled.costMicros,
  };
}

const shownTurns = 5;
/** Of how many calls files and tools are counted. */
const countedCalls = 200;

async function newestCalls(tx: Tx, { name, id }: Agent): Promise<readonly ToolStep[]> {
  const types = ["tool_start", "tool_end", "guard_denied"];
  const events = await tx.events.newest({ agents: [name], types }, 2 * countedCalls);
  // The end of a call whose start is older than these would look like a call of its own.
  const isOwn = (event: Event): boolean => event.agentId === id;
  const begins = events.findIndex(({ type }) => type === "tool_start");
  const steps = turnStory(events.slice(Math.max(0, begins)).filter(isOwn)).steps;
  return steps.filter((step): step is ToolStep => step.kind === "tool");
}

const isAboutFile = ({ tool, summary }: ToolStep): boolean =>
  summary !== "" &&
  /^(read|write|edit|multiedit|notebookedit|create|patch|replace|view|str_replace\w*|write_file|read_file|apply_patch)$/i.test(
    tool,
  );

const isWriting = ({ tool }: ToolStep): boolean => !/^(read|view|read_file)$/i.test(tool);

/** Files of the worktree by their path in it: checkpoints name them so, and programs of agents write either. */
function touched(
  calls: readonly ToolStep[],
  checkpoint: Checkpoint | null,
  worktree: string | null,
): readonly string[] {
  const inWorktree = (path: string): string =>
    worktree !== null && path.startsWith(`${worktree}/`) ? path.slice(worktree.length + 1) : path.replace(/^\.\//, "");
  const written = calls.filter((call) => isAboutFile(call) && isWriting(call) && call.denied === null && !call.failed);
  return [...new Set([...(checkpoint?.files ?? []), ...written.map(({ summary }) => summary)].map(inWorktree))];
}

function toolUses(calls: readonly ToolStep[]): readonly ToolUse[] {
  const byTool = Map.groupBy(calls, ({ tool }) => tool);
  const uses = [...byTool].map(([tool, used]): ToolUse => {
    const times = used.flatMap(({ durationMs }) => durationMs ?? []);
    return {
      tool,
      count: used.length,
      failed: used.filter(({ failed }) => failed).length,
      averageMs: times.length === 0 ? null : Math.round(times.reduce((sum, one) => sum + one, 0) / times.length),
      longestMs: times.length === 0 ? null : Math.max(...times),
    };
  });
  return uses.toSorted((a, b) => b.count - a.count || (a.tool < b.tool ? -1 : 1)).slice(0, shownTools);
}

const shownTools = 10;

/** Tells how an agent stands whenever that has changed, at most so often, until it has ended or the listener has left. */
export const followInspection: Stream<
  InspectRequest & { readonly intervalMs: number },
  { readonly ended: boolean },
  Inspection
> = {
  kind: "stream",
  request: fields({ name: text, limit: whole, intervalMs: whole }),
  place: "engine",
  run: async (world, { intervalMs, ...request }, { onItem, signal }) => {
    let told = "";
    return world.until(async () => {
      const found = await world.call("agent.inspect", request);
      if (!found.ok) return found;
      const { now: _, ...facts } = found.value;
      const seen = JSON.stringify(facts);
      if (seen !== told) {
        told = seen;
        onItem(found.value);
        await world.sleep(intervalMs, signal);
      }
      const ended = hasEnded(found.value.agent);
      return ended || signal.aborted ? ok({ ended }) : undefined;
    }, signal);
  },
};

/** Notes that agents left for others, newest last. */
export interface Note {
  readonly at: number;
  readonly agentName: string | null;
  readonly taskId: string | null;
  readonly note: string;
}

/** What agents of a run wrote down for others. */
export async function notesOf(tx: Tx, runId: string, limit: number): Promise<readonly Note[]> {
  const events = await tx.events.newest({ runId, factsOnly: true, types: ["learned"] }, limit);
  return events.map(({ createdAt, agentName, data }) => {
    const { note, taskId } = payloadFields(data);
    return {
      at: createdAt,
      agentName,
      taskId: typeof taskId === "string" ? taskId : null,
      note: typeof note === "string" ? note : "",
    };
  });
}
