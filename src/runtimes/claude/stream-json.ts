import { noTokens, type TokenCounts } from "../../domain/budget/usage.ts";
import { toolSummary } from "../../domain/event/tool-call.ts";
import type { TurnEnded, TurnEvent } from "../../domain/turn/turn-event.ts";
import type { AgentAnswer, LineReader, Reply } from "../../ports/runtime.ts";
import { type Fields, fields, list, number, text } from "../shared/json-fields.ts";
import { type ModelWatch, modelWatch } from "./model-watch.ts";
import { byStatus, type FailureNotes, failureNotes, lackOf, saidIn } from "./stream-json-failures.ts";
import { claudeToolUse } from "./tools.ts";

/**
 * Reads the stream-json output of Claude Code (2.1.197 to 2.1.325 seen). Unknown types are `other`, broken lines are
 * `malformed`; neither ends a turn. A message's usage is reported once however many blocks repeat it.
 */
export function streamJsonReader(): LineReader {
  const usage = usageAccount();
  const notes = failureNotes();
  const models = modelWatch();
  let session: string | undefined;
  /** The id stands on every line; it is news only when it changes. */
  const news = (events: readonly TurnEvent[]): readonly TurnEvent[] =>
    events.filter((event) => {
      if (event.kind !== "session") return true;
      const isNew = event.providerSessionId !== session;
      session = event.providerSessionId;
      return isNew;
    });
  return (line) => {
    const event = line.trim() === "" ? undefined : parse(line);
    return { events: read(line, event), replies: event === undefined ? [] : repliesTo(event) };
  };

  function read(line: string, event: Fields | undefined): readonly TurnEvent[] {
    if (line.trim() === "") return [];
    if (event === undefined) return [{ kind: "malformed", bytes: line.length, text: line }];
    notes.note(event);
    const type = text(event.type);
    if (type === "system") return news(readSystem(event, models));
    if (type === "assistant") return [...models.answered(event), ...readAssistant(event, usage)];
    if (type === "user") return event.isReplay === true ? heard(event) : readToolResults(event);
    if (type === "result")
      return news([...sessionOf(event), ...usage.ofResult(event), readResult(event, usage, notes)]);
    return [{ kind: "other", name: type ?? "unknown" }];
  }
}

function parse(line: string): Fields | undefined {
  try {
    return fields(JSON.parse(line));
  } catch {
    // A line that is not JSON is an observation about the stream, which the caller reports as `malformed`.
    return undefined;
  }
}

function readSystem(event: Fields, models: ModelWatch): TurnEvent[] {
  const subtype = text(event.subtype);
  if (subtype === "init") {
    models.began(event);
    const lack = lackOf(event);
    const begun = sessionOf(event, text(event.model) ?? null, text(event.claude_code_version) ?? null);
    return lack === undefined ? begun : [...begun, { kind: "hopeless", ...lack }];
  }
  if (subtype === "api_retry") return readRetry(event);
  if (subtype === "compact_boundary") return [readCompaction(event)];
  if (subtype === "model_refusal_fallback") return models.fellBack(event);
  return [{ kind: "other", name: `system/${subtype ?? "unknown"}` }];
}

function readCompaction(event: Fields): TurnEvent {
  const about = fields(event.compact_metadata);
  const [tokensBefore, tokensAfter] = [number(about?.pre_tokens) ?? null, number(about?.post_tokens) ?? null];
  return { kind: "compacted", asked: text(about?.trigger) === "manual", tokensBefore, tokensAfter };
}

/** After this many refusals of one key no further one will be different; the CLI itself would go on for minutes. */
const patienceWithKeys = 3;

function readRetry(event: Fields): TurnEvent[] {
  const status = number(event.error_status);
  const cause = text(event.error) ?? `HTTP ${status ?? "error"}`;
  const attempt = number(event.attempt) ?? 0;
  const retry = { kind: "retry", attempt, delayMs: number(event.retry_delay_ms) ?? 0, cause } as const;
  if (status === undefined || attempt < patienceWithKeys || byStatus(status) !== "login") return [retry];
  return [retry, { kind: "hopeless", failure: "login", text: `${cause} (HTTP ${status}), ${attempt} times` }];
}

function sessionOf(event: Fields, model: string | null = null, version: string | null = null): TurnEvent[] {
  const providerSessionId = text(event.session_id);
  return providerSessionId === undefined ? [] : [{ kind: "session", providerSessionId, model, version }];
}

function readAssistant(event: Fields, usage: UsageAccount): TurnEvent[] {
  const message = fields(event.message);
  const found: TurnEvent[] = [];
  for (const block of list(message?.content)) {
    const part = fields(block);
    const kind = text(part?.type);
    if (kind === "text") found.push({ kind: "text", text: text(part?.text) ?? "" });
    else if (kind === "thinking") found.push({ kind: "thinking", text: text(part?.thinking) ?? "" });
    else if (kind === "tool_use") {
      const call = { id: text(part?.id) ?? "", name: text(part?.name) ?? "", input: part?.input };
      found.push({ kind: "tool-start", ...call, summary: toolSummary(call.input), at: timeOf(event) });
    }
  }
  return [...found, ...usage.ofMessage(message)];
}

/** With `--replay-user-messages` the program repeats each message of the user when its model gets it. */
function heard(event: Fields): TurnEvent[] {
  const id = text(event.uuid);
  return id === undefined ? [] : [{ kind: "heard", id }];
}

function readToolResults(event: Fields): TurnEvent[] {
  const found: TurnEvent[] = [];
  for (const block of list(fields(event.message)?.content)) {
    const part = fields(block);
    if (text(part?.type) !== "tool_result") continue;
    const failed = part?.is_error === true;
    const said = failed ? { said: textOf(part?.content) } : {};
    found.push({ kind: "tool-end", id: text(part?.tool_use_id) ?? "", failed, ...said, at: timeOf(event) });
  }
  return found;
}

/** Newer versions stamp each line; 2.1.197 stamps only the answers of tools. */
function timeOf(event: Fields): number | null {
  const at = Date.parse(text(event.timestamp) ?? "");
  return Number.isNaN(at) ? null : at;
}

/** The answer of a tool is one text, or several blocks of which some are texts. */
const textOf = (content: unknown): string =>
  text(content) ??
  list(content)
    .flatMap((block) => text(fields(block)?.text) ?? [])
    .join("\n");

/** `is_error` means failure whatever the subtype says. */
function readResult(event: Fields, usage: UsageAccount, notes: FailureNotes): TurnEnded {
  const failure = notes.failureOf(event);
  const said = notes.lack?.text ?? saidIn(event);
  return {
    kind: "turn-ended",
    failure,
    text: said === "" && event.result === undefined ? null : said,
    resetAt: failure === "rate_limit" ? notes.resetOf(event) : null,
    costUsd: usage.costOf(event),
  };
}

/**
 * What the control protocol of Claude Code wants to hear to this line. With `--permission-prompt-tool stdio` the program
 * asks before it uses a tool, and waits. A request that we do not know is refused, so that it never waits in vain.
 */
function repliesTo(event: Fields): readonly Reply[] {
  if (event.type !== "control_request") return [];
  const id = text(event.request_id) ?? "";
  const request = fields(event.request) ?? {};
  const subtype = text(request.subtype) ?? "unknown";
  if (subtype !== "can_use_tool") {
    return [
      { kind: "say", text: response({ subtype: "error", request_id: id, error: `${subtype} is not supported` }) },
    ];
  }
  const tool = text(request.tool_name) ?? "";
  const use = claudeToolUse(tool, request.input);
  const ask = { kind: "permission", tool, id: text(request.tool_use_id) ?? null, use } as const;
  const form = (answer: AgentAnswer): string =>
    response({ subtype: "success", request_id: id, response: decision(answer, request.input) });
  return [{ kind: "ask", request: ask, form }];
}

/** An allowed tool is used with the input that it is given back. */
const decision = (answer: AgentAnswer, updatedInput: unknown): object =>
  answer.kind === "granted" ? { behavior: "allow", updatedInput } : { behavior: "deny", message: answer.reason };

const response = (body: object): string => `${JSON.stringify({ type: "control_response", response: body })}\n`;

type UsageEvent = Extract<TurnEvent, { readonly kind: "usage" }>;

/** Keeps a turn's account while its lines are read. */
interface UsageAccount {
  /** A message's usage, the first time one of its blocks brings it. */
  ofMessage(message: Fields | undefined): UsageEvent[];
  /** What the end of a turn knows beyond that, and begins the next account. */
  ofResult(result: Fields): UsageEvent[];
  /** What was spent since the beginning, or since the last result. */
  costOf(result: Fields): number | null;
}

/**
 * Messages carry the numbers of their beginning, with next to no output, and some calls are not shown at all; only the
 * end of a turn has the whole. So its surplus is reported as one more message: the sum is right at the end, and while
 * the turn runs, or when it never ends, what was seen so far still counts.
 */
function usageAccount(): UsageAccount {
  const seen = new Set<string>();
  let reported = new Map<string, TokenCounts>();
  let lastModel: string | null = null;
  let told = 0;
  const add = (event: UsageEvent): UsageEvent => {
    const model = event.model ?? "";
    reported.set(
      model,
      combine(reported.get(model) ?? noTokens, event, (a, b) => a + b),
    );
    return event;
  };
  return {
    ofMessage: (message) => {
      const id = text(message?.id);
      const usage = fields(message?.usage);
      const model = text(message?.model) ?? null;
      if (id === undefined || usage === undefined || model === "<synthetic>" || seen.has(id)) return [];
      seen.add(id);
      lastModel = model;
      return [add({ kind: "usage", messageId: id, model, ...apiCounts(usage) })];
    },
    ofResult: (result) => {
      const id = text(result.uuid) ?? text(result.session_id) ?? "";
      const surplus = wholeOf(result, lastModel).flatMap(([model, whole]): UsageEvent[] => {
        const counts = combine(whole, reported.get(model) ?? noTokens, (a, b) => Math.max(0, a - b));
        if (Object.values(counts).every((count) => count === 0)) return [];
        return [{ kind: "usage", messageId: `rest:${id}:${model}`, model: model === "" ? null : model, ...counts }];
      });
      reported = new Map();
      return surplus;
    },
    costOf: (result) => {
      const since = sharesOf(result);
      if (since !== undefined) return since;
      const total = number(result.total_cost_usd);
      if (total === undefined) return null;
      const cost = Math.max(0, total - told);
      told = total;
      return cost;
    },
  };
}

/**
 * What each model cost since the last result. Since some version the total goes on counting when a conversation is
 * resumed, and this is told beside it; before, the total was that of the process.
 */
function sharesOf(result: Fields): number | undefined {
  const since = fields(result.model_usage_since_last_result);
  if (since === undefined) return undefined;
  return Object.values(since).reduce((sum: number, share) => sum + (number(fields(share)?.costUSD) ?? 0), 0);
}

/** The counts of this turn by model. A version that has no shares by model has a sum, which is the turn's own. */
function wholeOf(result: Fields, lastModel: string | null): readonly (readonly [string, TokenCounts])[] {
  const since = fields(result.model_usage_since_last_result);
  if (since !== undefined) {
    return Object.entries(since).map(([name, share]) => {
      const of = fields(share) ?? {};
      return [text(of.canonicalModel) ?? name, shareCounts(of)] as const;
    });
  }
  const usage = fields(result.usage);
  return usage === undefined ? [] : [[lastModel ?? "", apiCounts(usage)]];
}

const apiCounts = (usage: Fields): TokenCounts => ({
  input: number(usage.input_tokens) ?? 0,
  output: number(usage.output_tokens) ?? 0,
  cacheRead: number(usage.cache_read_input_tokens) ?? 0,
  cacheWrite: number(usage.cache_creation_input_tokens) ?? 0,
});

const shareCounts = (share: Fields): TokenCounts => ({
  input: number(share.inputTokens) ?? 0,
  output: number(share.outputTokens) ?? 0,
  cacheRead: number(share.cacheReadInputTokens) ?? 0,
  cacheWrite: number(share.cacheCreationInputTokens) ?? 0,
});

const combine = (a: TokenCounts, b: TokenCounts, how: (a: number, b: number) => number): TokenCounts => ({
  input: how(a.input, b.input),
  output: how(a.output, b.output),
  cacheRead: how(a.cacheRead, b.cacheRead),
  cacheWrite: how(a.cacheWrite, b.cacheWrite),
});
