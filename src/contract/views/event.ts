import { type ErrorGroup, exampleText } from "../../domain/event/error-groups.ts";
import type { Event } from "../../domain/event/event.ts";
import { eventWords } from "../../domain/event/event-words.ts";
import type { TurnStep } from "../../domain/event/turn-story.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { visibleText } from "../../domain/text/visible.ts";
import type { Inspection } from "../../usecases/agents/inspect.ts";
import type { Generation, OutputPart } from "../../usecases/agents/transcript.ts";
import type { EventsRead } from "../../usecases/events/read-events.ts";
import type { TracedTurn } from "../../usecases/events/trace.ts";
import { olderEventKeys, olderInspectKeys } from "../older-keys.ts";
import { iso } from "../values.ts";
import { agentView } from "./agent.ts";

/** An event. `data` is the text that is stored, `details` the same as an object, `text` the event in words. */
export const eventView = (event: Event) => ({
  seq: event.seq,
  at: iso(event.createdAt),
  runId: event.runId,
  agentName: event.agentName,
  agentId: event.agentId,
  turnId: event.turnId,
  source: event.source,
  level: event.level,
  type: event.type,
  ...eventWords(event),
  data: event.data,
  details: payloadFields(event.data),
  ...olderEventKeys(event),
});

/** One page of events, oldest first. `nextCursor` is the number to give to `--before` for the page before it. */
export const eventListView = ({ events, older }: EventsRead) => ({
  events: events.map(eventView),
  count: events.length,
  nextCursor: older,
});

/** A turn with its tool calls and its mail in order, and how it ended. */
export const tracedTurnView = ({ turn, story, tokens, isCut }: TracedTurn) => ({
  id: turn.id,
  agentName: turn.agentName,
  agentId: turn.agentId,
  runId: turn.runId,
  ...courseOf(turn),
  messages: story.messages,
  tools: story.steps.filter(({ kind }) => kind === "tool").length,
  mail: story.steps.filter(({ kind }) => kind === "mail").length,
  steps: story.steps.map(turnStepView),
  outcome: story.outcome,
  tokens,
  costUsd: costOf(turn),
  costSource: turn.costSource,
  isCut,
});

/** Why a turn ran, and how it went. */
const courseOf = (turn: TracedTurn["turn"]) => ({
  trigger: turn.trigger,
  reason: turn.reason,
  attempt: turn.attempt,
  status: turn.status,
  failure: turn.failure,
  startedAt: iso(turn.startedAt),
  endedAt: iso(turn.endedAt),
  durationMs: turnDuration(turn),
});

const costOf = ({ costMicros }: TracedTurn["turn"]): number | null =>
  costMicros === null ? null : costMicros / 1_000_000;

/** From the start of a turn to its end; null while it runs. */
export const turnDuration = ({ startedAt, endedAt }: TracedTurn["turn"]): number | null =>
  startedAt === null || endedAt === null ? null : Math.max(0, endedAt - startedAt);

/** An incarnation of an agent with its turns, oldest first. */
export const generationView = ({ agent, turns }: Generation) => ({
  id: agent.id,
  generation: agent.generation,
  state: agent.state,
  outcome: agent.outcome,
  taskId: agent.taskId,
  branch: agent.branch,
  startedAt: iso(agent.startedAt),
  endedAt: iso(agent.endedAt),
  turns: turns.map((turn) => ({
    id: turn.id,
    ...courseOf(turn),
    costUsd: costOf(turn),
  })),
});

/** What the program of an agent wrote. Characters that cannot be seen, or that a terminal acts on, are written out. */
export const outputPartView = ({ turn, lines, from, size, older }: OutputPart) => ({
  turn: turn.id,
  agentName: turn.agentName,
  lines: lines.map(visibleText),
  from,
  size,
  older,
});

/** A step of a turn: a tool call or a message. Each kind has its own keys. */
export const turnStepView = ({ at, ...step }: TurnStep) => ({ ...step, at: iso(at) });

/** An agent from its name to its last call, with the keys of 0.11 beside ours. */
export const inspectionView = (seen: Inspection) => ({
  agent: agentView(seen.agent),
  pid: seen.pid,
  identity:
    seen.identity === null
      ? null
      : {
          completed: seen.identity.completed,
          createdAt: iso(seen.identity.createdAt),
          recentTasks: seen.identity.recentTasks.map(({ completedAt, ...task }) => ({
            ...task,
            completedAt: iso(completedAt),
          })),
        },
  checkpoint: seen.checkpoint === null ? null : checkpointView(seen.checkpoint),
  waits: seen.waits.map(({ kind, ref, since }) => ({ kind, ref, since: iso(since) })),
  unread: seen.unread,
  turnCount: seen.turnCount,
  turns: seen.turns.map(tracedTurnView),
  files: seen.files,
  tokens: seen.tokens,
  costUsd: seen.costMicros === null ? null : seen.costMicros / 1_000_000,
  tools: seen.tools,
  calls: seen.calls.map(turnStepView),
  ...olderInspectKeys(seen, agentView(seen.agent)),
});

/** Where an agent stood when its last turn ended, or as it said itself. */
export const checkpointView = (checkpoint: NonNullable<Inspection["checkpoint"]>) => ({
  generation: checkpoint.generation,
  taskId: checkpoint.taskId,
  turnId: checkpoint.turnId,
  summary: checkpoint.summary,
  files: checkpoint.files,
  branch: checkpoint.branch,
  pending: checkpoint.pending,
  updatedAt: iso(checkpoint.updatedAt),
});

/** Events that went wrong for one cause. */
export const errorGroupView = (group: ErrorGroup) => ({
  key: group.key,
  cause: group.cause,
  count: group.count,
  firstAt: iso(group.firstAt),
  lastAt: iso(group.lastAt),
  agents: group.agents,
  example: { seq: group.example.seq, at: iso(group.example.createdAt), text: exampleText(group) },
  next: group.next,
});
