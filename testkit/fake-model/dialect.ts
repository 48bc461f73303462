import type { AnswerStep, CallStep, Refused, Stop, Turn, Usage } from "./script.ts";

/** One wire format of a model API: how to read a request of it, and how to say an answer in it. */
export interface Dialect {
  readonly name: "messages" | "responses" | "chat" | "gemini";
  /** The paths at which an answer is asked for. */
  readonly paths: RegExp;
  /** The body is what a client sent; each format names the parts of it that it reads. */
  read(body: object, path: string): Asked;
  whole(answer: Answer): object;
  /** The same answer as the events of a stream. */
  frames(answer: Answer): readonly Frame[];
  refuse(error: Refused): { readonly body: object; readonly headers?: Readonly<Record<string, string>> };
}

/** What of a request matters to a script. */
export interface Asked {
  readonly model: string;
  readonly streamed: boolean;
  readonly turns: readonly Turn[];
  readonly tools: readonly OfferedTool[];
}

export interface OfferedTool {
  readonly name: string;
  /** Some clients offer the tools of a server below its name. */
  readonly namespace?: string;
  readonly schema?: Schema | undefined;
}

export interface Schema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** One event of a stream. Frames that carry a part of the answer are what a pause follows. */
export interface Frame {
  readonly event?: string;
  readonly data: object | "[DONE]";
  readonly isPart?: boolean;
}

/** What the model says, in no format yet. */
export interface Answer {
  readonly number: number;
  readonly model: string;
  readonly parts: readonly Part[];
  readonly stop: Stop | undefined;
  readonly pieces: number;
  readonly usage: Usage;
}

export type Part =
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "call";
      readonly id: string;
      readonly name: string;
      readonly namespace: string | undefined;
      readonly input: Readonly<Record<string, unknown>>;
    };

const defaultUsage: Usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 };

export function answerFor(step: AnswerStep, asked: Asked, number: number): Answer {
  const calls = "calls" in step ? step.calls : "shell" in step || "tool" in step ? [step] : [];
  const text = step.text === undefined ? [] : [{ kind: "text" as const, text: step.text }];
  return {
    number,
    model: asked.model,
    parts: [...text, ...calls.map((call, at) => callFor(call, asked.tools, `${number}_${at + 1}`))],
    stop: "stop" in step ? step.stop : undefined,
    pieces: step.pieces ?? 1,
    usage: { ...defaultUsage, ...step.usage },
  };
}

function callFor(step: CallStep, tools: readonly OfferedTool[], id: string): Part {
  if ("tool" in step) {
    const { name, namespace } = tools.find((tool) => isCalled(tool, step.tool)) ?? { name: step.tool };
    return { kind: "call", id, name, namespace, input: step.input ?? {} };
  }
  const shell = tools.find(({ name }) => /^(Bash|bash|shell.*|run_shell_command|exec_command)$/.test(name));
  if (shell === undefined) return { kind: "text", text: `there is no shell tool for: ${step.shell}` };
  const { required = [], properties = {} } = shell.schema ?? {};
  const argument = "cmd" in properties ? "cmd" : "command";
  const others = required.filter((name) => name !== argument).map((name) => [name, "as asked"]);
  const input = { [argument]: step.shell, ...Object.fromEntries(others) };
  return { kind: "call", id, name: shell.name, namespace: shell.namespace, input };
}

/** Each client has its own name for a tool of an MCP server. Scripts say `mcp__<server>__<tool>`. */
function isCalled({ name, namespace }: OfferedTool, asked: string): boolean {
  const full = namespace === undefined ? name : `${namespace}__${name}`;
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(asked) ?? [];
  return [asked, `mcp_${server}_${tool}`, `${server}_${tool}`, `${server}-${tool}`].includes(full);
}

/** A text in so many parts of about the same length. No letter is cut: half of one cannot be said in JSON. */
export function cutInto(pieces: number, text: string): readonly string[] {
  const letters = [...text];
  const size = Math.max(1, Math.ceil(letters.length / pieces));
  return Array.from({ length: Math.max(1, Math.ceil(letters.length / size)) }, (_, at) =>
    letters.slice(at * size, (at + 1) * size).join(""),
  );
}

/** The words of a message, whose content is a text or a list of blocks; blocks without a text of their own have none. */
export function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: { text?: unknown } | null) => (typeof block?.text === "string" ? block.text : ""))
    .join("\n");
}

export const roleOf = (role: unknown): Turn["role"] =>
  role === "user" ? "user" : role === "assistant" || role === "model" ? "assistant" : "other";
