import { type Answer, cutInto, type Dialect, type Frame, roleOf, type Schema, textIn } from "./dialect.ts";
import type { Refused } from "./script.ts";

/** OpenAI Chat Completions: `POST /v1/chat/completions`. */
export const chat: Dialect = {
  name: "chat",
  paths: /\/chat\/completions$/,
  read: (body) => {
    const { model, stream, messages, tools = [] } = body as ChatRequest;
    return {
      model,
      streamed: stream === true,
      turns: messages.map(({ role, content }) => ({ role: roleOf(role), text: textIn(content) })),
      tools: tools.map(({ function: { name, parameters } }) => ({ name, schema: parameters })),
    };
  },
  whole: (answer) => ({
    ...envelope(answer, "chat.completion"),
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: textOf(answer) || null,
          ...(callsOf(answer).length === 0 ? {} : { tool_calls: callsOf(answer) }),
        },
        finish_reason: finishReason(answer),
      },
    ],
    usage: usageOf(answer),
  }),
  frames,
  refuse: refuseAsOpenAi,
};

interface ChatRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters?: Schema } }[];
}

/** An error in OpenAI's words, for both of its formats. */
export function refuseAsOpenAi({ status, type, message, resetAfter }: Refused): ReturnType<Dialect["refuse"]> {
  const [usual = "server_error", code = null] = types[status] ?? [];
  const error = { message: message ?? "as the script says", type: type ?? usual, param: null, code };
  if (resetAfter === undefined) return { body: { error } };
  const limit = { resets_in_seconds: resetAfter, resets_at: Math.floor(Date.now() / 1000) + resetAfter };
  return {
    body: { error: { ...error, type: type ?? "usage_limit_reached", ...limit } },
    headers: { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": `${resetAfter}s` },
  };
}

const types: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
  400: ["invalid_request_error", null],
  401: ["invalid_request_error", "invalid_api_key"],
  403: ["permission_error", null],
  404: ["invalid_request_error", "model_not_found"],
  429: ["requests", "rate_limit_exceeded"],
};

const envelope = ({ number, model }: Answer, object: string) => ({
  id: `chatcmpl-${number}`,
  object,
  created: Math.floor(Date.now() / 1000),
  model,
});

const textOf = ({ parts }: Answer): string => parts.map((part) => (part.kind === "text" ? part.text : "")).join("");

const callsOf = ({ parts }: Answer) =>
  parts
    .filter((part) => part.kind === "call")
    .map(({ id, name, input }, index) => ({
      index,
      id: `call_${id}`,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));

const finishReason = (answer: Answer): string =>
  answer.stop === "refusal"
    ? "content_filter"
    : answer.stop === "max_tokens"
      ? "length"
      : callsOf(answer).length > 0
        ? "tool_calls"
        : "stop";

/** Here what came from the cache is part of what was read, and what went into it is not told. */
const usageOf = ({ usage: { input, output, cacheRead, cacheWrite } }: Answer) => ({
  prompt_tokens: input + cacheRead + cacheWrite,
  completion_tokens: output,
  total_tokens: input + cacheRead + cacheWrite + output,
  prompt_tokens_details: { cached_tokens: cacheRead },
});

function frames(answer: Answer): readonly Frame[] {
  const chunk = (delta: object, finish: string | null = null, isPart = false): Frame => ({
    data: {
      ...envelope(answer, "chat.completion.chunk"),
      choices: [{ index: 0, delta, finish_reason: finish }],
    },
    isPart,
  });
  const text = textOf(answer);
  return [
    chunk({ role: "assistant", content: "" }),
    ...(text === "" ? [] : cutInto(answer.pieces, text).map((content) => chunk({ content }, null, true))),
    ...callsOf(answer).flatMap(({ function: { name, arguments: json }, ...call }) =>
      cutInto(answer.pieces, json).map((part, at) =>
        chunk(
          { tool_calls: [at === 0 ? { ...call, function: { name, arguments: part } } : followUp(call.index, part)] },
          null,
          true,
        ),
      ),
    ),
    chunk({}, finishReason(answer)),
    { data: { ...envelope(answer, "chat.completion.chunk"), choices: [], usage: usageOf(answer) } },
    { data: "[DONE]" },
  ];
}

const followUp = (index: number, json: string) => ({ index, function: { arguments: json } });
