import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import type { Event } from "../../domain/event/event.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { type MergeEntry, openMergeStatuses } from "../../domain/merge/entry.ts";
import { ok } from "../../domain/result.ts";
import { fields, oneOf, text, whole } from "../../domain/schema/schema.ts";
import type { Wait } from "../../ports/store/agents.ts";
import type { Tx } from "../../ports/store.ts";
import { followLines, type LinesRead, newestLines } from "../agents/logs.ts";
import type { Stream } from "../operation.ts";
import { type Trouble, standingOf as troubleIn } from "../operator/troubled-agents.ts";
import { type RunDetail, runDetail } from "../runs/read-runs.ts";
import type { UseCase } from "../usecase.ts";
import { findHead, type HeadQuestion, headCapabilities, headQuestion, liveHeads } from "./find.ts";

export interface HeadStanding {
  readonly agent: Agent;
  readonly running: boolean;
  /** Of its agent program, while a turn runs. */
  readonly pid: number | null;
  readonly run: RunDetail | null;
  readonly unread: number;
  readonly waits: readonly Wait[];
  /** Agents of its run that have not ended, itself left out. */
  readonly workers: readonly string[];
  /** Why its last turn failed, and what a person can do about it. */
  readonly trouble: Pick<Trouble, "problem" | "advice">;
}

export interface HeadStatus {
  /** The agent that was asked about; null if it never existed. */
  readonly asked: HeadStanding | null;
  /** All that live. */
  readonly all: readonly HeadStanding[];
  /** A monitor lives. */
  readonly monitorRunning: boolean;
}

/** The coordinators, and where their runs stand. Without a name, all that live are in `all`. */
export const coordinatorStatus: UseCase<HeadQuestion, HeadStatus> = {
  kind: "read",
  request: headQuestion,
  run: async (tx, { caller, now }, question) => {
    const live = await liveHeads(tx, question.capability);
    const found = await findHead(tx, caller, question);
    if (!found.ok && question.name !== undefined) return found;
    const all: HeadStanding[] = [];
    for (const agent of live) all.push(await standingOf(tx, agent, now));
    const asked = found.ok ? await standingOf(tx, found.value, now) : null;
    const everybody = await tx.agents.list({ live: true });
    return ok({ asked, all, monitorRunning: everybody.some(({ capability }) => capability === "monitor") });
  },
};

async function standingOf(tx: Tx, agent: Agent, now: number): Promise<HeadStanding> {
  const run = await tx.runs.get(agent.runId);
  const processes = hasEnded(agent) ? [] : await tx.processes.liveForAgent(agent.id);
  const inRun = await tx.agents.list({ runId: agent.runId, live: true });
  return {
    agent,
    running: !hasEnded(agent),
    pid: processes.find(({ role }) => role === "agent")?.pid ?? null,
    run: run === undefined ? null : await runDetail(tx, run, now),
    unread: await tx.deliveries.countQueued(agent.name),
    waits: await tx.waits.of(agent.name),
    workers: inRun.map(({ name }) => name).filter((name) => name !== agent.name),
    trouble: await troubleIn(tx, agent, await tx.turns.listFor(agent.id)),
  };
}

export interface Remaining {
  /** Agents of the run that still work. */
  readonly agents: readonly string[];
  /** Branches that will land or come back by themselves. */
  readonly branches: readonly string[];
  /** Branches that wait for a person's word; no agent can wait for them. */
  readonly approvals: readonly string[];
}

/** What of a run goes on by itself. */
export const remainingWork: UseCase<{ readonly runId: string }, Remaining> = {
  kind: "read",
  request: fields({ runId: text }),
  run: async (tx, _context, { runId }) => {
    const agents = newestPerName(await tx.agents.list({ runId }));
    const merges = await tx.merges.list({ runId, statuses: openMergeStatuses });
    const waits = ({ approval }: MergeEntry): boolean => approval === "waiting";
    return ok({
      agents: agents
        .filter((agent) => !isIn("persistent", agent.capability) && !hasEnded(agent))
        .map(({ name }) => name),
      branches: merges.filter((entry) => !waits(entry)).map(({ branch }) => branch),
      approvals: merges.filter(waits).map(({ branch }) => branch),
    });
  },
};

/** Waits until all work of a run that goes on by itself has ended. Each item lists the remaining work. */
export const followRemaining: Stream<{ readonly runId: string }, null, Remaining> = {
  kind: "stream",
  request: fields({ runId: text }),
  place: "engine",
  run: async (world, request, { onItem }) =>
    world.until(async () => {
      const left = await world.call("coordinator.remaining", request);
      if (!left.ok) return left;
      if (left.value.agents.length + left.value.branches.length === 0) return ok(null);
      onItem(left.value);
      return undefined;
    }),
};

export interface OutputRequest extends HeadQuestion {
  /** The newest so many lines. */
  readonly lines: number;
  /** Only output after this place. */
  readonly after?: number | undefined;
}

export interface OutputLine {
  readonly turnId: string | null;
  readonly at: number;
  readonly text: string;
}

const outputRequest = () =>
  fields<OutputRequest>({ capability: oneOf(headCapabilities), lines: whole }, { name: text, after: whole });

/** What an agent said in its turns, as text. A reader that follows it is also told when the agent stands still. */
export const readOutput: UseCase<OutputRequest, LinesRead<OutputLine>> = {
  kind: "read",
  request: outputRequest(),
  run: async (tx, { caller }, { lines, after, ...question }) => {
    const found = await findHead(tx, caller, question);
    if (!found.ok) return found;
    const agent = found.value;
    const cursor = await tx.events.last();
    const types = after === undefined ? ["progress"] : ["progress", "stands_still"];
    const isSaid = (event: Event): boolean => event.agentId === agent.id && types.includes(event.type);
    const said = await newestLines(tx, {
      filter: {
        agents: [agent.name],
        after: after ?? 0,
        before: cursor + 1,
        types,
        since: agent.startedAt,
      },
      lines,
      linesOf: (events) =>
        events.filter(isSaid).flatMap((event) => linesOf(event).map((line) => ({ seq: event.seq, line }))),
    });
    const shown = said.lines.map(({ line }) => line);
    return ok({ agentName: agent.name, lines: shown, cursor, ended: hasEnded(agent) });
  },
};

/** Tells what an agent says from a place on, until the agent has ended or the listener has left. */
export const followOutput: Stream<
  OutputRequest,
  Pick<LinesRead<OutputLine>, "agentName" | "ended">,
  readonly OutputLine[]
> = {
  kind: "stream",
  request: outputRequest(),
  place: "engine",
  run: (world, request, listener) =>
    followLines(world, listener, request.after, (after) => world.call("coordinator.output", { ...request, after })),
};

function linesOf({ type, data, turnId, createdAt }: Event): readonly OutputLine[] {
  const fields = payloadFields(data);
  const text = type === "progress" ? fields.text : `[engine] ${fields.problem}; ${fields.advice}`;
  if (typeof text !== "string" || text.trim() === "") return [];
  return text
    .trimEnd()
    .split("\n")
    .map((line) => ({ turnId, at: createdAt, text: line }));
}
