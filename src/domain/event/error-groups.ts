import { payloadFields } from "../mail/payload.ts";
import type { Event } from "./event.ts";
import { causeWords, eventWords, said } from "./event-words.ts";

/** Events that went wrong for the same reason. */
export interface ErrorGroup {
  /** The kind of the events and their common fields. Equal for equal causes. */
  readonly key: string;
  readonly cause: string;
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The agents that it happened to, the first that met it first. */
  readonly agents: readonly string[];
  /** The newest of the events. */
  readonly example: Event;
  /** The command to type next. */
  readonly next: string;
}

/** Events in groups by their cause, those with the newest event last. */
export function errorGroups(events: readonly Event[]): readonly ErrorGroup[] {
  const groups = new Map<string, ErrorGroup>();
  for (const event of events) {
    const cause = causeOf(event);
    const key = `${event.type}:${cause}`;
    const before = groups.get(key);
    const named = event.agentName === null ? [] : [event.agentName];
    groups.set(key, {
      key,
      cause,
      count: (before?.count ?? 0) + 1,
      firstAt: Math.min(before?.firstAt ?? event.createdAt, event.createdAt),
      lastAt: Math.max(before?.lastAt ?? event.createdAt, event.createdAt),
      agents: [...new Set([...(before?.agents ?? []), ...named])],
      example: event,
      next: nextCommand(event),
    });
  }
  return [...groups.values()].toSorted((a, b) => a.example.seq - b.example.seq);
}

/** Why it happened, without the numbers, ids and paths by which two events of one cause differ. */
function causeOf(event: Event): string {
  const fields = payloadFields(event.data);
  switch (event.type) {
    case "tool_end":
      return `${said(fields.tool) || "a tool"} failed: ${withoutDetails(firstLine(fields.said)) || "no reason given"}`;
    case "guard_denied":
      return `${said(fields.tool) || "a tool"} denied by rule ${said(fields.rule)}`;
    case "turn_end": {
      const { reason, kind } = inner(fields.end);
      return `turn ended: ${withoutDetails(firstLine(reason)) || said(kind)}`;
    }
    case "result":
    case "hopeless":
      return causeWords(fields.cause);
    case "retry":
      return `retry: ${withoutDetails(firstLine(fields.cause))}`;
    case "merge_failed":
    case "merge_blocked":
      return `${event.type === "merge_failed" ? "did not land" : "blocked"}: ${said(fields.cause).replaceAll("_", " ")}`;
    case "start_failed":
      return `could not start: ${withoutDetails(firstLine(fields.problem))}`;
    case "engine_error":
      return withoutDetails(firstLine(fields.text));
    case "mail_dead":
      return "mail was given up";
    default:
      return event.type.replaceAll("_", " ");
  }
}

const inner = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};

const firstLine = (text: unknown): string =>
  said(text)
    .split("\n")
    .find((line) => line.trim() !== "")
    ?.trim() ?? "";

const longestCause = 160;

const withoutDetails = (line: string): string =>
  line
    .slice(0, 400)
    .replace(/\b[0-9a-f]{7,64}\b|\b\d+\b/gi, "#")
    .replace(/(?:\/[\w.@+-]+){2,}/g, "…")
    .slice(0, longestCause);

/** The command that shows more about an event, or mends its cause. */
export function nextCommand(event: Event): string {
  const { type, turnId, seq, data } = event;
  const { queueId } = payloadFields(data);
  // A hook that proves no agent may name any: what a shell would take for more than a name is not offered to be typed.
  const agentName = event.agentName !== null && /^[\w.-]+$/.test(event.agentName) ? event.agentName : null;
  if (type === "guard_denied") return `ov guard explain ${seq}`;
  if (typeof queueId === "number") return `ov merge show ${queueId}`;
  if (type === "mail_dead") return "ov mail dead";
  if (type.startsWith("budget_")) return "ov budget show";
  if (agentName !== null && turnId !== null && /^tool_|^turn_|^result$|^retry$/.test(type))
    return `ov logs ${agentName} --turn ${turnId}`;
  if (agentName !== null) return `ov inspect ${agentName}`;
  return /^engine_/.test(type) ? "ov engine status" : `ov replay --from ${seq}`;
}

/** The event in one line, for the example of a group. */
export const exampleText = ({ example }: ErrorGroup): string => eventWords(example).text;
