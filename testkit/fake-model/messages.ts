import { type Answer, cutInto, type Dialect, type Frame, type Part, roleOf, type Schema, textIn } from "./dialect.ts";

/** Anthropic Messages: `POST /v1/messages`. */
export const messages: Dialect = {
  name: "messages",
  paths: /\/messages$/,
  read: (body) => {
    const { model, stream, messages: said, tools = [] } = body as MessagesRequest;
    return {
      model,
      streamed: stream === true,
      turns: said.map(({ role, content }) => ({ role: roleOf(role), text: textIn(content) })),
      tools: tools.map(({ name, input_schema }) => ({ name, schema: input_schema })),
    };
  },
  whole: (answer) => ({
    ...message(answer),
    content: answer.parts.map(blockOf),
    stop_reason: stopReason(answer),
    usage: usageOf(answer),
  }),
  frames,
  refuse: ({ status, type = types[status] ?? "api_error", message = "as the script says", resetAfter }) => ({
    body: { type: "error", error: { type, message } },
    ...(resetAfter === undefined ? {} : { headers: limitHeaders(resetAfter) }),
  }),
};

interface MessagesRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly name: string; readonly input_schema?: Schema }[];
}

const types: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

function limitHeaders(seconds: number): Record<string, string> {
  return {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": String(Math.floor(Date.now() / 1000) + seconds),
  };
}

const message = ({ number, model }: Answer) => ({
  id: `msg_${number}`,
  type: "message",
  role: "assistant",
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
});

const blockOf = (part: Part): object =>
  part.kind === "text"
    ? { type: "text", text: part.text }
    : { type: "tool_use", id: `toolu_${part.id}`, name: part.name, input: part.input };

const stopReason = ({ parts, stop }: Answer): string =>
  stop ?? (parts.some(({ kind }) => kind === "call") ? "tool_use" : "end_turn");

const usageOf = ({ usage }: Answer) => ({
  input_tokens: usage.input,
  output_tokens: usage.output,
  cache_read_input_tokens: usage.cacheRead,
  cache_creation_input_tokens: usage.cacheWrite,
});

function frames(answer: Answer): readonly Frame[] {
  const usage = usageOf(answer);
  const events = [
    { type: "message_start", message: { ...message(answer), usage: { ...usage, output_tokens: 1 } } },
    ...answer.parts.flatMap((part, index) => [
      { type: "content_block_start", index, content_block: { ...blockOf(part), ...emptyOf(part) } },
      { type: "ping" },
      ...deltasOf(part, answer.pieces).map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: stopReason(answer), stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    },
    { type: "message_stop" },
  ];
  return events.map((data) => ({ event: data.type, data, isPart: data.type === "content_block_delta" }));
}

const emptyOf = (part: Part): object => (part.kind === "text" ? { text: "" } : { input: {} });

const deltasOf = (part: Part, pieces: number): readonly object[] =>
  part.kind === "text"
    ? cutInto(pieces, part.text).map((text) => ({ type: "text_delta", text }))
    : cutInto(pieces, JSON.stringify(part.input)).map((json) => ({ type: "input_json_delta", partial_json: json }));
