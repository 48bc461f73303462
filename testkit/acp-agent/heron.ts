import { existsSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { cases, type HeronCase } from "./cases.ts";

/**
 * An agent of our own that speaks ACP, and badly where its case says so. It has no model: in its first turn it writes a file,
 * commits it and finishes with `ov done`, unless its case has other plans.
 */
const [name = "good"] = process.argv.slice(2);
if (name === "--version") {
  console.log("heron 4.2.0");
  process.exit(0);
}
const play: HeronCase = cases[name] ?? {};
const conversations = join(process.env.HOME ?? "/", "heron.json");

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: {
    readonly sessionId?: string;
    readonly prompt?: readonly { readonly text?: string }[];
    readonly value?: string;
  };
  readonly result?: { readonly outcome?: { readonly outcome?: string; readonly optionId?: string } };
  readonly error?: { readonly code?: number };
}

/** What this process lets a case do. */
export interface Heron {
  readonly sessionId: string;
  /** Writes bytes as they are. */
  raw(bytes: string | Uint8Array): void;
  send(message: object): void;
  update(update: object): void;
  say(text: string): void;
  /** Asks, and waits for the answer. */
  ask(method: string, params: object, id?: unknown): Promise<Message>;
  /** Runs a command of the shell if that is permitted; undefined where it is not. */
  shell(command: string, options?: readonly object[]): Promise<string | undefined>;
  /** Writes a file, commits it and finishes. */
  work(): Promise<void>;
}

let sessionId = "";
let calls = 0;
const waiting = new Map<string, (answer: Message) => void>();

const raw = (bytes: string | Uint8Array): void => {
  const all = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
  for (let at = 0; at < all.length; ) at += writeSync(1, all, at);
};
const send = (message: object): void => {
  const line = `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
  const bytes = new TextEncoder().encode(line);
  const size = play.pieces === true ? 7 : bytes.length;
  for (let at = 0; at < bytes.length; at += size) raw(bytes.subarray(at, at + size));
};
const update = (news: object): void => send({ method: "session/update", params: { sessionId, update: news } });
const say = (text: string): void => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const ask = (method: string, params: object, id: unknown = `q${++calls}`): Promise<Message> => {
  const answered = new Promise<Message>((resolve) => waiting.set(JSON.stringify(id), resolve));
  send({ id, method, params });
  return answered;
};
const usualOptions = [
  { optionId: "yes", kind: "allow_once", name: "Yes" },
  { optionId: "no", kind: "reject_once", name: "No" },
];
const heron: Heron = {
  get sessionId() {
    return sessionId;
  },
  raw,
  send,
  update,
  say,
  ask,
  shell: async (command, options = usualOptions) => {
    const toolCallId = `call-${++calls}`;
    const toolCall = { toolCallId, title: command, kind: "execute", status: "pending", rawInput: { command } };
    const answer = await ask("session/request_permission", { sessionId, toolCall, options });
    const isAllowed = answer.result?.outcome?.optionId === "yes";
    if (!isAllowed) {
      update({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
      return undefined;
    }
    const { stdout, exitCode } = Bun.spawnSync({ cmd: ["sh", "-c", command], stderr: "inherit" });
    update({ sessionUpdate: "tool_call_update", toolCallId, status: "completed", rawOutput: { exitCode } });
    return stdout.toString();
  },
  work: async () => {
    await heron.shell("echo hello > hello.txt && git add hello.txt && git commit --quiet -m 'Say hello'");
    await heron.shell("ov done --summary 'It is there.'");
  },
};

async function answer({ id, method, params }: Message): Promise<void> {
  const reply = (result: object): void => send({ id, result });
  const trouble = play.errors?.[method ?? ""];
  if (trouble !== undefined) return send({ id, error: trouble });
  switch (method) {
    case "initialize":
      await play.onStart?.(heron);
      return reply({
        protocolVersion: "protocolVersion" in play ? play.protocolVersion : 1,
        agentInfo: { name: "heron", version: "4.2.0" },
        agentCapabilities: play.noLoad === true ? {} : { loadSession: true },
      });
    case "session/new":
      sessionId = `heron-${crypto.randomUUID()}`;
      writeFileSync(conversations, JSON.stringify([...known(), sessionId]));
      reply({ sessionId });
      return play.afterSession?.(heron);
    case "session/load":
      sessionId = params?.sessionId ?? "";
      return known().includes(sessionId)
        ? reply({})
        : send({ id, error: { code: -32602, message: "no such session" } });
    case "session/set_mode":
      return reply({});
    case "session/set_config_option":
      say(`before the prompt: ${params?.value}`);
      return reply({});
    case "session/prompt": {
      const text = (params?.prompt ?? []).map((part) => part.text ?? "").join("\n");
      const result = (await play.onPrompt?.(heron, text)) ?? (await usual());
      return reply(result);
    }
    default:
      return send({ id, error: { code: -32601, message: `no ${method}` } });
  }
}

async function usual(): Promise<object> {
  await heron.work();
  say("Fertig: grüße 🦉.");
  const usage = { inputTokens: 100, outputTokens: 20, totalTokens: 120 };
  return { stopReason: "end_turn", ...(play.noUsage === true ? {} : { usage }) };
}

const known = (): readonly string[] =>
  existsSync(conversations) ? (JSON.parse(readFileSync(conversations, "utf8")) as string[]) : [];

let rest = "";
const decoder = new TextDecoder();
for await (const chunk of Bun.stdin.stream()) {
  const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const message = JSON.parse(line) as Message;
    if (message.method !== undefined) void answer(message);
    else waiting.get(JSON.stringify(message.id))?.(message);
  }
}
process.exit(0);
