import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { StepOf } from "./scenario/step.ts";
import type { ToolAnswer } from "./stream/events.ts";
import type { Stage } from "./tools.ts";

/** How a server is started. */
export interface McpProgram {
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** Without a configuration the agent still knows how to reach the tools. */
const ownServer: McpProgram = { name: "overstory", argv: ["ov", "mcp"], env: {} };

/**
 * Calls a tool for real: starts the server, as the imitated program does, and speaks the protocol with it over its
 * standard streams. Undefined when the call went as the scenario says, else why it did not.
 */
export async function useMcpTool(step: StepOf<"mcp">, stage: Stage): Promise<string | undefined> {
  const { tool, arguments: given } = step.mcp;
  const program = stage.mcpPrograms[0] ?? ownServer;
  const name = `mcp__${program.name}__${tool}`;
  const answer = await stage.turn.call({ name, input: given, usage: step.usage }, () =>
    askServer(program, { name: tool, arguments: given }, stage),
  );
  if (answer.isError && !step.allowFail) return `${name} failed: ${answer.content}`;
  if (step.expect === undefined || answer.content.includes(step.expect)) return undefined;
  return `${name} answered without "${step.expect}": ${answer.content}`;
}

async function askServer(program: McpProgram, call: object, { cwd, env, stop }: Stage): Promise<ToolAnswer> {
  const [file, ...args] = program.argv;
  const child = spawn(file, args, {
    cwd,
    env: { ...env, ...program.env },
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  try {
    return await stop.during(talk(child, call), () => child.kill("SIGKILL"));
  } finally {
    child.stdin?.end();
  }
}

/** Greets, calls, and answers what came back. A server that leaves instead failed. */
async function talk(child: ChildProcess, call: object): Promise<ToolAnswer> {
  const left = new Promise<ToolAnswer>((resolve) => {
    child.on("error", (error) => resolve(failure(`the server could not be started: ${error.message}`)));
    child.on("close", (code) => resolve(failure(`the server left with ${code ?? "a signal"}`)));
  });
  return Promise.race([conversation(child, call), left]);
}

async function conversation({ stdin, stdout }: ChildProcess, call: object): Promise<ToolAnswer> {
  if (stdin === null || stdout === null) return failure("the server has no streams");
  const say = (message: object): void => void stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "scripted-agent", version: "1" };
  say({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
  for await (const line of createInterface({ input: stdout })) {
    const message: Fields = JSON.parse(line);
    if (message.id === undefined) continue;
    if (message.error !== undefined) return failure(String(fields(message.error).message));
    if (message.id === 2) return answerOf(fields(message.result));
    say({ method: "notifications/initialized" });
    say({ id: 2, method: "tools/call", params: call });
  }
  return failure("the server closed its output");
}

function answerOf(result: Fields): ToolAnswer {
  const blocks = Array.isArray(result.content) ? result.content : [];
  const content = blocks.map((block: unknown) => String(fields(block).text ?? "")).join("\n");
  return { content, isError: result.isError === true, structured: result.structuredContent };
}

const failure = (content: string): ToolAnswer => ({ content, isError: true, structured: undefined });

const fields = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
