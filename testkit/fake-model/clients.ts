// biome-ignore lint/suspicious/noExplicitAny: answers of four foreign formats, looked at by their literals
export type Json = any;

/** A client of one wire format, as small as it can be. */
interface Client {
  path(streamed: boolean): string;
  user(text: string): Json;
  request(history: readonly Json[], tools: readonly string[], streamed: boolean): Json;
  /** What an answer says, and what it becomes in the history together with the results of its calls. */
  said(answer: Json): Said;
  kept(answer: Json, result: string): readonly Json[];
  /** The same from the events of a stream. */
  heard(events: readonly Json[]): Said;
  usage(answer: Json): Json;
  error(body: Json): readonly unknown[];
}

export interface Said {
  readonly text: string;
  readonly calls: readonly (readonly [name: string, input: Json])[];
  readonly stop: string;
}

const schema = { type: "object", properties: { command: {}, description: {} }, required: ["command", "description"] };
const joined = (parts: readonly (string | undefined)[]): string => parts.map((part) => part ?? "").join("");

export const clients: Readonly<Record<string, Client>> = {
  messages: {
    path: () => "/v1/messages?beta=true",
    user: (text) => ({ role: "user", content: [{ type: "text", text }] }),
    request: (messages, tools, stream) => ({
      model: "m",
      stream,
      messages,
      tools: tools.map((name) => ({ name, input_schema: schema })),
    }),
    said: ({ content, stop_reason }) => ({
      text: joined(content.map(({ text }: Json) => text)),
      calls: content.filter(({ type }: Json) => type === "tool_use").map(({ name, input }: Json) => [name, input]),
      stop: stop_reason,
    }),
    kept: ({ content }, result) => [
      { role: "assistant", content },
      {
        role: "user",
        content: content
          .filter(({ type }: Json) => type === "tool_use")
          .map(({ id }: Json) => ({ type: "tool_result", tool_use_id: id, content: result })),
      },
    ],
    heard: (events) => {
      const blocks = events.filter(({ type }) => type === "content_block_start");
      const inputOf = (at: number): string =>
        joined(events.filter(({ index }) => index === at).map(({ delta }) => delta?.partial_json));
      return {
        text: joined(events.map(({ delta }) => delta?.text)),
        calls: blocks
          .filter(({ content_block }) => content_block.type === "tool_use")
          .map(({ index, content_block }) => [content_block.name, JSON.parse(inputOf(index))]),
        stop: events.find(({ type }) => type === "message_delta").delta.stop_reason,
      };
    },
    usage: ({ usage }) => usage,
    error: ({ error }) => [error.type, error.message],
  },
  responses: {
    path: () => "/v1/responses",
    user: (text) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] }),
    request: (input, tools, stream) => ({
      model: "m",
      stream,
      input,
      tools: tools.map((name) => ({ type: "function", name, parameters: schema })),
    }),
    said: ({ output, status, incomplete_details }) => ({
      text: joined(output.map(({ content }: Json) => content?.[0].text)),
      calls: output
        .filter(({ type }: Json) => type === "function_call")
        .map((item: Json) => [item.name, JSON.parse(item.arguments)]),
      stop: incomplete_details?.reason ?? status,
    }),
    kept: ({ output }, result) => [
      ...output,
      ...output
        .filter(({ type }: Json) => type === "function_call")
        .map(({ call_id }: Json) => ({ type: "function_call_output", call_id, output: result })),
    ],
    heard: (events) => ({
      text: joined(events.map(({ type, delta }) => (type === "response.output_text.delta" ? delta : ""))),
      calls: events
        .filter(({ type, item }) => type === "response.output_item.done" && item.type === "function_call")
        .map(({ item, output_index }) => {
          const parts = events.filter(
            ({ type, output_index: at }) => type === "response.function_call_arguments.delta" && at === output_index,
          );
          return [item.name, JSON.parse(joined(parts.map(({ delta }) => delta)))];
        }),
      stop: events.at(-1).response.status,
    }),
    usage: ({ usage }) => usage,
    error: ({ error }) => [error.type, error.code, error.message],
  },
  chat: {
    path: () => "/v1/chat/completions",
    user: (text) => ({ role: "user", content: text }),
    request: (messages, tools, stream) => ({
      model: "m",
      stream,
      messages,
      tools: tools.map((name) => ({ type: "function", function: { name, parameters: schema } })),
    }),
    said: ({ choices: [{ message, finish_reason }] }) => ({
      text: message.content ?? "",
      calls: (message.tool_calls ?? []).map((call: Json) => [call.function.name, JSON.parse(call.function.arguments)]),
      stop: finish_reason,
    }),
    kept: ({ choices: [{ message }] }, result) => [
      message,
      ...(message.tool_calls ?? []).map(({ id }: Json) => ({ role: "tool", tool_call_id: id, content: result })),
    ],
    heard: (events) => {
      const deltas = events.flatMap(({ choices }) => choices ?? []).map(({ delta }) => delta);
      const calls = deltas.flatMap(({ tool_calls }) => tool_calls ?? []);
      return {
        text: joined(deltas.map(({ content }) => content)),
        calls: calls
          .filter(({ id }) => id !== undefined)
          .map(({ index, function: { name } }) => {
            const parts = calls.filter((call) => call.index === index).map((call) => call.function.arguments);
            return [name, JSON.parse(joined(parts))];
          }),
        stop: events.flatMap(({ choices }) => choices ?? []).find(({ finish_reason }) => finish_reason).finish_reason,
      };
    },
    usage: ({ usage }) => usage,
    error: ({ error }) => [error.type, error.code, error.message],
  },
  gemini: {
    path: (streamed) => `/v1beta/models/m:${streamed ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    user: (text) => ({ role: "user", parts: [{ text }] }),
    request: (contents, tools) => ({
      contents,
      ...(tools.length === 0
        ? {}
        : { tools: [{ functionDeclarations: tools.map((name) => ({ name, parametersJsonSchema: schema })) }] }),
    }),
    said: ({ candidates: [{ content, finishReason }] }) => ({
      text: joined(content.parts.map(({ text }: Json) => text)),
      calls: content.parts
        .filter(({ functionCall }: Json) => functionCall)
        .map(({ functionCall: { name, args } }: Json) => [name, args]),
      stop: finishReason,
    }),
    kept: ({ candidates: [{ content }] }, output) => [
      content,
      {
        role: "user",
        parts: content.parts
          .filter(({ functionCall }: Json) => functionCall)
          .map(({ functionCall: { id, name } }: Json) => ({ functionResponse: { id, name, response: { output } } })),
      },
    ],
    heard: (events) => {
      const parts = events.flatMap(({ candidates }) => candidates[0].content.parts);
      return {
        text: joined(parts.map(({ text }) => text)),
        calls: parts.filter(({ functionCall }) => functionCall).map(({ functionCall: { name, args } }) => [name, args]),
        stop: events.at(-1).candidates[0].finishReason,
      };
    },
    usage: ({ usageMetadata }) => usageMetadata,
    error: ({ error }) => [error.status, error.code, error.message],
  },
};

/** The events of a stream, without the mark of its end. */
export function eventsIn(stream: string): readonly Json[] {
  const data = stream.split("\n").filter((line) => line.startsWith("data: "));
  return data
    .map((line) => line.slice("data: ".length))
    .filter((line) => line !== "[DONE]")
    .map((line) => JSON.parse(line));
}
