import { agentStates } from "../agent/agent.ts";
import { statusOf } from "../agent/status.ts";
import { payloadFields } from "../mail/payload.ts";
import { failureCauses, failures } from "../turn/failure.ts";
import type { Event } from "./event.ts";
import { isKnownKind } from "./event-kinds.ts";
import { toolSummary } from "./tool-call.ts";

/** An event in a word and one short line, for lists of events. The line holds words of agents: surfaces make it safe to show. */
export interface EventWords {
  /** At most six capital letters and marks. */
  readonly label: string;
  readonly text: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** The labels of 0.11 where an event has one; every other label is the noun that the event is about. */
const labels: Readonly<Record<string, string>> = {
  tool_start: "TOOL+",
  tool_end: "TOOL-",
  session_start: "SESS+",
  session_end: "SESS-",
  mail_sent: "MAIL>",
  mail_dead: "MAIL!",
  spawn: "SPAWN",
  turn_start: "TURN+",
  turn_end: "TURN-",
  progress: "SAID",
  thinking: "THINK",
  result: "RSULT",
  usage: "USAGE",
  guard_denied: "GUARD",
  hopeless: "ERROR",
  engine_error: "ERROR",
  start_failed: "ERROR",
  attention: "YOU",
  stands_still: "YOU",
  notify_failed: "NOTIFY",
  notify_unsure: "NOTIFY",
};

const nouns: readonly [RegExp, string][] = [
  [/^merge_/, "MERGE"],
  [/^(task|tasks)_/, "TASK"],
  [/^(run|criteri|proof|waiver)/, "RUN"],
  [/^group_/, "GROUP"],
  [/^budget_/, "BUDGET"],
  [/^mail_/, "MAIL"],
  [/^(snapshot|work|worktree|submodule|stand_in)/, "WORK"],
  [/^(completion|check|review)_/, "CHECK"],
  [/^(engine|settings|old)_/, "ENGINE"],
];

const labelOf = (type: string): string =>
  labels[type] ?? nouns.find(([pattern]) => pattern.test(type))?.[1] ?? (isKnownKind(type) ? "AGENT" : "?");

/** The event in words. An event of a kind that this version does not know is shown by its kind and data. */
export function eventWords(event: Pick<Event, "type" | "data">): EventWords {
  const { type, data } = event;
  const fields = payloadFields(data);
  const label = labelOf(type);
  if (!isKnownKind(type)) return { label, text: `${type}${data === null ? "" : ` ${cut(data)}`}` };
  const text = writers[type]?.(fields) ?? plain(type, fields);
  return { label, text: cut(oneLine(text)) };
}

const writers: Readonly<Record<string, (fields: Fields) => string>> = {
  spawn: ({ capability, taskId, parent, runtime }) =>
    join(`${said(capability)} on ${said(runtime)}`, named("task", taskId), named("parent", parent)),
  turn_start: ({ trigger, attempt, messages }) =>
    join(said(trigger), attempt === 1 ? "" : named("attempt", attempt), counted(messages, "message")),
  turn_end: ({ end, state, outcome }) => {
    const { kind, reason } = inner(end);
    return join(said(kind), said(reason), named("agent", said(outcome) || stateWords(state)));
  },
  session_start: ({ providerSessionId, sessionId, model }) =>
    join(said(providerSessionId) || said(sessionId), named("model", model)),
  progress: ({ text }) => said(text),
  thinking: ({ text }) => said(text),
  malformed_output: ({ text, bytes }) => said(text) || counted(bytes, "byte"),
  error_output: ({ text }) => said(text),
  tool_start: ({ tool, summary, input, subject }) =>
    join(said(tool), said(summary) || toolSummary(input) || said(subject)).replace(", ", ": "),
  tool_end: ({ tool, summary, durationMs, failed, said: answer }) =>
    join(
      join(said(tool), said(summary)).replace(", ", ": "),
      typeof durationMs === "number" ? elapsed(durationMs) : "",
      failed === true ? `failed${said(answer) === "" ? "" : `: ${said(answer)}`}` : "",
    ),
  guard_denied: ({ tool, summary, rule, of }) =>
    join(`${join(said(tool), said(summary)).replace(", ", ": ")} denied (${said(rule)})`, said(of)),
  result: ({ cause, text }) => (cause === "completed" ? said(text) : join(said(cause), said(text))),
  hopeless: ({ cause, text }) => join(causeWords(cause), said(text)),
  compacted: ({ asked, tokensBefore, tokensAfter }) =>
    join(
      `the conversation was compacted${asked === true ? ", as it was told" : ""}${sized(": ", tokensBefore, "before")}`,
      sized("", tokensAfter, "after"),
    ),
  model_changed: ({ from, to, why }) =>
    join(`the model changed to ${said(to)}`, `before it was ${said(from)}`, said(why)),
  usage: ({ model, input, output, cacheRead }) =>
    join(said(model), `${said(input)} in`, `${said(output)} out`, `${said(cacheRead)} from the cache`),
  mail_sent: ({ to, type, subject }) => `to ${said(to)} (${said(type)}): ${said(subject)}`,
  mail_dead: ({ from, to, type, lastError }) =>
    join(`from ${said(from)} to ${said(to)} (${said(type)}) given up`, said(lastError)),
  custom: ({ from, message }) => `nudged by ${said(from)}: ${said(message)}`,
  merge_landed: ({ branch, targetBranch, commit }) =>
    join(`${said(branch)} landed in ${said(targetBranch)}`, said(commit).slice(0, 12)),
  merge_failed: ({ branch, cause, message }) => join(`${said(branch)} did not land`, said(cause), said(message)),
  merge_blocked: ({ branch, cause, message }) => join(`${said(branch)} is blocked`, said(cause), said(message)),
  merge_queued: ({ branch, targetBranch }) => `${said(branch)} queued for ${said(targetBranch)}`,
  merge_waits: ({ branch, why }) => join(`${said(branch)} waits`, said(why)),
  merge_undone: ({ branch, targetBranch, requeue }) =>
    join(`${said(branch)} taken out of ${said(targetBranch)}`, requeue === true ? "queued again" : ""),
  merge_promoted: ({ landing, target, commit }) =>
    join(`${said(landing)} promoted to ${said(target)}`, said(commit).slice(0, 12)),
  merge_promote_failed: ({ landing, target, problem }) =>
    join(`${said(landing)} not promoted to ${said(target)}`, said(problem)),
  run_retargeted: ({ runId, from, to }) =>
    join(`${said(runId)} is for ${said(to)}`, from === null ? "" : `before for ${said(from)}`),
  completion_accepted: ({ commit, verdict, summary }) =>
    join("completion accepted", said(commit).slice(0, 12), said(verdict), said(summary)),
  task_created: ({ taskId, title }) => join(`${said(taskId)} created`, said(title)),
  task_claimed: ({ taskId, by }) => `${said(taskId)} claimed by ${said(by)}`,
  task_closed: ({ taskId, reason }) => join(`${said(taskId)} closed`, said(reason)),
  engine_error: ({ text }) => said(text),
  attention: ({ subjects }) => `needs you: ${Array.isArray(subjects) ? subjects.map(said).join("; ") : ""}`,
  notify_failed: ({ channel, problem }) => `could not notify you by ${said(channel)}: ${said(problem)}`,
  earlier: ({ kind, text }) => (text === null ? said(kind) : `${said(kind)}: ${said(text)}`),
  imported: ({ source, rows }) => `${said(rows)} rows of ${said(source)}`,
  stands_still: ({ problem, advice }) => join(said(problem), said(advice)),
  start_failed: ({ problem }) => `could not start: ${said(problem)}`,
  snapshot: ({ ref }) => `snapshot ${said(ref)}`,
};

/** The state of an agent as `ov status` calls it. */
function stateWords(state: unknown): string {
  const known = agentStates.find((one) => one === state);
  return known === undefined ? said(state) : statusOf({ state: known, outcome: null, releasedAt: null }).words;
}

/** The kind in words, and the short fields behind it. */
function plain(type: string, fields: Fields): string {
  const shown = Object.entries(fields).flatMap(([name, value]) => {
    const text = Array.isArray(value) ? value.filter((one) => said(one) !== "").join(" ") : said(value);
    if (text === "") return [];
    const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    return [`${words} ${/^[0-9a-f]{40}$/.test(text) ? text.slice(0, 12) : text}`];
  });
  return join(type.replaceAll("_", " "), ...shown);
}

/** A length of time for a row of a list: `40ms`, `1.2s`, `3m 05s`. */
export function elapsed(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, "0")}s`;
}

/** A cause of `domain/turn/failure` in its words. */
export function causeWords(cause: unknown): string {
  const known = failureCauses.find((one) => one === cause);
  return known === undefined ? said(cause) : failures[known].words;
}

/** A text or number as text; any other value as nothing. */
export const said = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? `${value}` : "";

/** `180k tokens before`; nothing where the program did not say. */
function sized(lead: string, tokens: unknown, when: string): string {
  if (typeof tokens !== "number") return "";
  return `${lead}${tokens < 10_000 ? tokens : `${Math.round(tokens / 1_000)}k`} tokens ${when}`;
}

const inner = (value: unknown): Fields => (typeof value === "object" && value !== null ? { ...value } : {});
const named = (name: string, value: unknown): string => (said(value) === "" ? "" : `${name} ${said(value)}`);
const counted = (count: unknown, noun: string): string =>
  said(count) === "" ? "" : `${said(count)} ${noun}${count === 1 ? "" : "s"}`;
const join = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join(", ");
const oneLine = (text: string): string => text.trim().replace(/\s*\n\s*/g, " ⏎ ");
const cut = (text: string): string => (text.length <= mostChars ? text : `${text.slice(0, mostChars - 1)}…`);
const mostChars = 300;
