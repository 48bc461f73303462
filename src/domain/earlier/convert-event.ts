import { type EventFact, type EventLevel, eventLevels } from "../event/event.ts";
import { jsonIn, oneOf, textIn, textOf, timeOf } from "./columns.ts";
import type { EarlierValues } from "./earlier-project.ts";

export interface EarlierEvent {
  readonly agentName: string;
  readonly createdAt: number;
  readonly fact: EventFact & { readonly level: EventLevel };
}

/** Calls of tools, sessions and mail become events of our own kinds. Everything else keeps its name inside one kind of ours. */
export function eventOf(values: EarlierValues): EarlierEvent {
  const agentName = textOf(values, "agent_name");
  const createdAt = timeOf(values, "created_at");
  const level = oneOf(eventLevels, textOf(values, "level")) ?? "info";
  return { agentName, createdAt, fact: { ...factOf(values), level } };
}

function factOf(values: EarlierValues): EventFact {
  const kind = textOf(values, "event_type");
  const data = jsonIn(values, "data");
  const sessionId = textIn(values, "session_id");
  const session = sessionId === null ? {} : { sessionId };
  const call = { tool: textIn(values, "tool_name"), id: null, summary: subjectOf(wordIn(data, "summary")), ...session };
  const input = jsonIn(values, "tool_args");
  const durationMs = typeof values.tool_duration_ms === "number" ? values.tool_duration_ms : null;
  switch (kind) {
    case "tool_start":
      return { type: kind, data: { ...call, ...(input == null ? {} : { input }) } };
    case "tool_end":
      return { type: kind, data: { ...call, durationMs } };
    case "session_start":
      return { type: kind, data: session };
    case "session_end": {
      const transcript = wordIn(data, "transcriptPath");
      return { type: kind, data: { ...session, ...(transcript === "" ? {} : { transcript }) } };
    }
    case "mail_sent": {
      const [to, subject, type] = [wordIn(data, "to"), wordIn(data, "subject"), wordIn(data, "type")];
      const [priority, messageId] = [wordIn(data, "priority"), wordIn(data, "messageId")];
      return { type: kind, data: { to, subject, type, priority, messageId } };
    }
    default:
      return { type: "earlier", data: { kind, text: textIn(values, "data") } };
  }
}

/** "write: a.txt" is said of the tool Write, which is shown before it. */
const subjectOf = (summary: string): string | null => (summary === "" ? null : summary.replace(/^[a-z]+: /, ""));

function wordIn(data: unknown, key: string): string {
  const word = typeof data === "object" && data !== null ? (data as EarlierValues)[key] : undefined;
  return typeof word === "string" ? word : "";
}
