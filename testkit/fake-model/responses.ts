import { refuseAsOpenAi } from "./chat.ts";
import {
  type Answer,
  cutInto,
  type Dialect,
  type Frame,
  type OfferedTool,
  type Part,
  roleOf,
  type Schema,
  textIn,
} from "./dialect.ts";
import type { Turn } from "./script.ts";

/** OpenAI Responses: `POST /v1/responses`. */
export const responses: Dialect = {
  name: "responses",
  paths: /\/responses$/,
  read: (body) => {
    const { model, stream, input, tools = [] } = body as ResponsesRequest;
    const items = typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
    // For models of its own catalogue Codex puts the tools into the conversation.
    const added = items.flatMap((item: Item) => (item.type === "additional_tools" ? (item.tools ?? []) : []));
    return {
      model,
      streamed: stream === true,
      turns: turnsOf(items),
      tools: [...tools, ...added].flatMap(toolsIn),
    };
  },
  whole: (answer) =>
    response(
      answer,
      stateOf(answer),
      answer.parts.map((part, at) => itemOf(answer, part, at)),
    ),
  frames,
  refuse: refuseAsOpenAi,
};

interface ResponsesRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly input: string | readonly Item[];
  readonly tools?: readonly Tool[];
}

/** A message, a call, or what a call gave. */
interface Item {
  readonly type?: string;
  readonly role?: string;
  readonly content?: unknown;
  readonly tools?: readonly Tool[];
}

interface Tool {
  readonly type: string;
  readonly name?: string;
  readonly parameters?: Schema;
  readonly tools?: readonly Tool[];
}

/** One answer may be several items: a message, its calls. They are one turn until something comes back. */
function turnsOf(items: readonly Item[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const { type = "message", role, content } of items) {
    const isAnswer = role === "assistant" || type === "reasoning" || type.endsWith("_call");
    if (!isAnswer) turns.push({ role: roleOf(role), text: textIn(content) });
    else if (turns.at(-1)?.role !== "assistant") turns.push({ role: "assistant", text: textIn(content) });
  }
  return turns;
}

function toolsIn({ type, name = type, parameters, tools = [] }: Tool): readonly OfferedTool[] {
  if (type !== "namespace") return [{ name, schema: parameters }];
  return tools.flatMap(toolsIn).map((tool) => ({ ...tool, namespace: name }));
}

function itemOf({ number }: Answer, part: Part, at: number) {
  if (part.kind === "text") {
    const content = [{ type: "output_text", text: part.text, annotations: [] }];
    return { id: `msg_${number}_${at}`, type: "message", role: "assistant", status: "completed", content };
  }
  const { id, name, namespace, input } = part;
  return {
    id: `fc_${number}_${at}`,
    type: "function_call",
    status: "completed",
    call_id: `call_${id}`,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    arguments: JSON.stringify(input),
  };
}

const stateOf = ({ stop }: Answer) => (stop === undefined ? "completed" : "incomplete");

function response(answer: Answer, status: string, output: readonly object[]): object {
  const { input, output: said, cacheRead, cacheWrite } = answer.usage;
  // Here what came from the cache is part of what was read.
  const read = input + cacheRead + cacheWrite;
  const usage = {
    input_tokens: read,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: said,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: read + said,
  };
  const reason = answer.stop === "refusal" ? "content_filter" : "max_output_tokens";
  return {
    id: `resp_${answer.number}`,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status,
    model: answer.model,
    error: null,
    incomplete_details: status === "incomplete" ? { reason } : null,
    output,
    usage: status === "in_progress" ? null : usage,
  };
}

type StreamEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

function frames(answer: Answer): readonly Frame[] {
  const begun = response(answer, "in_progress", []);
  const items = answer.parts.map((part, at) => itemOf(answer, part, at));
  const state = stateOf(answer);
  const events: readonly StreamEvent[] = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...items.flatMap((item, at) => itemEvents(item, at, answer)),
    { type: `response.${state}`, response: response(answer, state, items) },
  ];
  return events.map((event, at) => ({
    event: event.type,
    data: { ...event, sequence_number: at },
    isPart: event.type.endsWith(".delta"),
  }));
}

function itemEvents(item: ReturnType<typeof itemOf>, at: number, { pieces }: Answer): readonly StreamEvent[] {
  const place = { item_id: item.id, output_index: at };
  const added = { type: "response.output_item.added", output_index: at };
  const done = { type: "response.output_item.done", output_index: at, item };
  if (item.content === undefined) {
    const event = { ...place, type: "response.function_call_arguments" };
    return [
      { ...added, item: { ...item, status: "in_progress", arguments: "" } },
      ...cutInto(pieces, item.arguments).map((delta) => ({ ...event, type: `${event.type}.delta`, delta })),
      { ...event, type: `${event.type}.done`, arguments: item.arguments },
      done,
    ];
  }
  const [part] = item.content;
  const within = { ...place, content_index: 0 };
  return [
    { ...added, item: { ...item, status: "in_progress", content: [] } },
    { ...within, type: "response.content_part.added", part: { ...part, text: "" } },
    ...cutInto(pieces, part?.text ?? "").map((delta) => ({ ...within, type: "response.output_text.delta", delta })),
    { ...within, type: "response.output_text.done", text: part?.text },
    { ...within, type: "response.content_part.done", part },
    done,
  ];
}
