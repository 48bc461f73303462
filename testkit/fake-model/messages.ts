import type { Step, Turn } from "./script.ts";

/** The parts of a request of the Messages format that matter here. */
export interface MessagesRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly name: string; readonly input_schema?: Schema }[];
  readonly system?: unknown;
}

interface Schema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

export const turnsOf = ({ messages }: MessagesRequest): readonly Turn[] =>
  messages.map(({ role, content }) => ({ role, text: textIn(content) }));

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: unknown) => (isBlock(block) && typeof block.text === "string" ? block.text : ""))
    .join("\n");
}

const isBlock = (value: unknown): value is { readonly text?: unknown } => typeof value === "object" && value !== null;

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown };

/** What the model says: a text, or a call of one of the tools it was offered. */
export function blockFor(step: Step | undefined, request: MessagesRequest, id: string): Block {
  if (step === undefined || "status" in step) return { type: "text", text: "Nothing more to say." };
  if ("text" in step) return { type: "text", text: step.text };
  if ("tool" in step) return { type: "tool_use", id, name: step.tool, input: step.input ?? {} };
  const shell = request.tools?.find(({ name }) => /^(Bash|bash|shell.*|run_shell_command|exec_command)$/.test(name));
  if (shell === undefined) return { type: "text", text: `there is no shell tool for: ${step.shell}` };
  const { required = [], properties = {} } = shell.input_schema ?? {};
  const argument = "cmd" in properties ? "cmd" : "command";
  const others = required.filter((name) => name !== argument).map((name) => [name, "as asked"]);
  return { type: "tool_use", id, name: shell.name, input: { [argument]: step.shell, ...Object.fromEntries(others) } };
}

const usage = { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };

/** How an answer comes: in how many parts, how far apart, and why it ends. */
interface Pace {
  readonly pieces: number;
  readonly pauseMs: number;
  readonly stop: string | undefined;
}

export function paceOf(step: Step | undefined): Pace {
  const text = step !== undefined && "text" in step ? step : undefined;
  return { pieces: text?.pieces ?? 1, pauseMs: text?.pauseMs ?? 0, stop: text?.stop };
}

interface Said {
  readonly block: Block;
  readonly id: string;
  readonly pace: Pace;
}

const stopReason = ({ block, pace }: Said): string =>
  pace.stop ?? (block.type === "tool_use" ? "tool_use" : "end_turn");

export function wholeMessage(request: MessagesRequest, said: Said): object {
  return {
    id: said.id,
    type: "message",
    role: "assistant",
    model: request.model,
    content: [said.block],
    stop_reason: stopReason(said),
    stop_sequence: null,
    usage,
  };
}

/** The same as the events of a stream, in the order every client takes. */
export function streamed(request: MessagesRequest, said: Said): ReadableStream<Uint8Array> {
  const { block, id, pace } = said;
  const message = {
    id,
    type: "message",
    role: "assistant",
    model: request.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
  const events = [
    { type: "message_start", message },
    {
      type: "content_block_start",
      index: 0,
      content_block: block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} },
    },
    { type: "ping" },
    ...partsOf(block, pace.pieces).map((delta) => ({ type: "content_block_delta", index: 0, delta })),
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: stopReason(said), stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    },
    { type: "message_stop" },
  ];
  const encoder = new TextEncoder();
  return new ReadableStream({
    start: async (stream) => {
      for (const event of events) {
        stream.enqueue(encoder.encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
        if (pace.pauseMs > 0 && event.type === "content_block_delta") await Bun.sleep(pace.pauseMs);
      }
      stream.close();
    },
  });
}

function partsOf(block: Block, pieces: number): readonly object[] {
  if (block.type === "tool_use") return [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }];
  const size = Math.max(1, Math.ceil(block.text.length / pieces));
  return Array.from({ length: Math.max(1, Math.ceil(block.text.length / size)) }, (_, at) => ({
    type: "text_delta",
    text: block.text.slice(at * size, (at + 1) * size),
  }));
}
