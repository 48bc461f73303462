import { payloadFields } from "../mail/payload.ts";
import type { Event } from "./event.ts";
import { said } from "./event-words.ts";
import { inShownOrder } from "./shown-order.ts";
import { toolSummary } from "./tool-call.ts";

/** A call of a tool from its start to its end. */
export interface ToolStep {
  readonly kind: "tool";
  readonly seq: number;
  readonly at: number;
  readonly callId: string | null;
  readonly tool: string;
  readonly summary: string;
  /** Null while it runs, and where its end was not seen. */
  readonly durationMs: number | null;
  /** False where its end was not seen. */
  readonly ended: boolean;
  readonly failed: boolean;
  /** The rule that forbade it. */
  readonly denied: string | null;
}

export interface MailStep {
  readonly kind: "mail";
  readonly seq: number;
  readonly at: number;
  readonly to: string;
  readonly type: string;
  readonly subject: string;
  readonly messageId: string;
}

export type TurnStep = ToolStep | MailStep;

/** How a turn ended, in the words of its last event; null while it runs. */
export interface TurnOutcome {
  readonly end: string;
  readonly reason: string | null;
  readonly agentState: string;
  readonly agentOutcome: string | null;
}

/** The story of one turn: its tool calls and its mail in order, and its end. */
export interface TurnStory {
  readonly messages: number;
  readonly steps: readonly TurnStep[];
  readonly outcome: TurnOutcome | null;
}

/** Reads the events of one turn. */
export function turnStory(events: readonly Event[]): TurnStory {
  const steps: TurnStep[] = [];
  let messages = 0;
  let outcome: TurnOutcome | null = null;
  for (const event of inShownOrder(events)) {
    const fields = payloadFields(event.data);
    if (event.type === "turn_start") messages = typeof fields.messages === "number" ? fields.messages : 0;
    if (event.type === "tool_start") steps.push(begun(event, fields));
    if (event.type === "tool_end") close(steps, event, fields);
    if (event.type === "guard_denied") deny(steps, event, fields);
    if (event.type === "mail_sent") steps.push(sent(event, fields));
    if (event.type === "turn_end") outcome = ending(fields);
  }
  return { messages, steps, outcome };
}

type Fields = Readonly<Record<string, unknown>>;

const begun = ({ seq, createdAt }: Event, { id, tool, summary, input, subject }: Fields): ToolStep => ({
  kind: "tool",
  seq,
  at: createdAt,
  callId: typeof id === "string" ? id : null,
  tool: said(tool),
  // Earlier versions stored no summary.
  summary: said(summary) || toolSummary(input) || said(subject),
  durationMs: null,
  ended: false,
  failed: false,
  denied: null,
});

/** The end of a call whose start was not seen is a step of its own. */
function close(steps: TurnStep[], event: Event, fields: Fields): void {
  const at = openCall(steps, fields);
  const step = steps[at];
  const begin = step?.kind === "tool" ? step : begun(event, fields);
  const { durationMs, failed } = fields;
  const done: ToolStep = {
    ...begin,
    durationMs: typeof durationMs === "number" ? durationMs : null,
    ended: true,
    failed: failed === true,
  };
  if (at === -1) steps.push(done);
  else steps[at] = done;
}

function deny(steps: TurnStep[], event: Event, fields: Fields): void {
  const at = openCall(steps, fields);
  const step = steps[at];
  const begin = step?.kind === "tool" ? step : begun(event, fields);
  const denied: ToolStep = { ...begin, denied: said(fields.rule) };
  if (at === -1) steps.push(denied);
  else steps[at] = denied;
}

/** The call with this id that has not ended; a call without an id is the last one of its tool. */
function openCall(steps: readonly TurnStep[], { id, tool }: Fields): number {
  return steps.findLastIndex(
    (step) =>
      step.kind === "tool" &&
      !step.ended &&
      (typeof id === "string" ? step.callId === id : step.callId === null && step.tool === said(tool)),
  );
}

const sent = ({ seq, createdAt }: Event, { to, type, subject, messageId }: Fields): MailStep => ({
  kind: "mail",
  seq,
  at: createdAt,
  to: said(to),
  type: said(type),
  subject: said(subject),
  messageId: said(messageId),
});

function ending({ end, state, outcome }: Fields): TurnOutcome {
  const { kind, reason }: Fields = typeof end === "object" && end !== null ? { ...end } : {};
  return {
    end: said(kind),
    reason: said(reason) || null,
    agentState: said(state),
    agentOutcome: said(outcome) || null,
  };
}
