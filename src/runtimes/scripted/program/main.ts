import { existsSync, readFileSync, writeSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { no, ok, type Result } from "../../../domain/result.ts";
import { type Conversation, Conversations, newConversation, withTokens } from "./conversation.ts";
import { Diary } from "./diary.ts";
import type { McpProgram } from "./mcp.ts";
import { type Ending, performSteps } from "./perform.ts";
import { chooseRule, loadScenario, type Rule, type TurnFacts } from "./scenario/rule.ts";
import type { Step } from "./scenario/step.ts";
import { fillTemplates, type TemplateSource } from "./scenario/template.ts";
import { exitCodes, Stopped, StopRequest } from "./stop.ts";
import { controlResponse, imitatedVersion, type McpServer, replayedEvent } from "./stream/events.ts";
import { type Arrival, Inbox } from "./stream/inbox.ts";
import { Output } from "./stream/output.ts";
import { unknownSession, unknownSessionResult } from "./stream/result.ts";
import { Turn } from "./turn.ts";

const usageError = 1;
const badScenario = 64;

/** What control requests are answered with. An interrupt of nothing is answered too, and changes nothing. */
const answers: Readonly<Record<string, { readonly value: object }>> = {
  initialize: { value: { commands: [], models: [], pid: process.pid } },
  interrupt: { value: { still_queued: [] } },
};

/**
 * Runs the scripted agent on this process's standard streams and signals; answers the exit code. The caller must then
 * exit: standard input may still be open.
 */
export async function runScriptedAgent(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  if (argv[0] === "--interactive") return (await import("./interactive.ts")).runInteractive(argv.slice(1), env);
  const stop = new StopRequest();
  stop.listen();
  const out = new Output();
  const args = parseArguments(argv);
  if (!args.ok) return complain(usageError, args.refusal);
  if (args.value.version) {
    await out.line(`${imitatedVersion} (Scripted Agent)`);
    return 0;
  }
  const rules = rulesOf(env.OVERSTORY_SCENARIO);
  if (!rules.ok) return complain(badScenario, "The scenario cannot be used:", ...rules.refusal);

  const cwd = process.cwd();
  const home = env.HOME ?? homedir();
  const root = env.OVERSTORY_SCENARIO_STATE ?? join(home, ".scripted-agent", "state");
  const diary = new Diary(root, env.OVERSTORY_AGENT_NAME ?? "");
  const attempt = diary.start({ argv, cwd, systemPrompt: args.value.systemPrompt });

  const conversations = new Conversations(home);
  const { resume, session } = args.value;
  if (session !== undefined && conversations.find(session) !== undefined) {
    return complain(usageError, `Error: Session ID ${session} is already in use.`);
  }
  const conversation =
    resume === undefined ? newConversation(session ?? crypto.randomUUID()) : conversations.find(resume);
  if (conversation === undefined) {
    await out.event(unknownSessionResult(resume ?? ""));
    return complain(usageError, unknownSession(resume ?? ""));
  }
  const inbox = new Inbox((answer) => diary.answer({ request: "none", answer }));
  const parts = { args: args.value, env, cwd, rules: rules.value, attempt, out, stop, diary, inbox, conversations };
  return serve(new Agent(parts, conversation), inbox, out, stop);
}

/** Without a scenario every turn has nothing to do. */
function rulesOf(path: string | undefined): Result<readonly Rule[], readonly string[]> {
  return path === undefined || path === "" ? ok([]) : loadScenario(path);
}

/** One turn per prompt until standard input ends, a turn ends the process, or a signal does. */
async function serve(agent: Agent, inbox: Inbox, out: Output, stop: StopRequest): Promise<number> {
  let busy = false;
  let failed = false;
  const reading = inbox.read(Bun.stdin.stream(), ({ id, subtype }) => {
    void out.event(controlResponse(id, answers[subtype] ?? { error: "unsupported_request" }));
    if (subtype === "interrupt" && busy) stop.request("interrupt");
  });
  try {
    for (;;) {
      const arrival = await stop.during(inbox.next());
      if (arrival === undefined) {
        await reading;
        return failed ? 1 : 0;
      }
      if (arrival.kind === "malformed")
        return complain(usageError, `Error parsing streaming input line: ${arrival.line}`);
      busy = true;
      const after = await agent.takeTurn(arrival);
      busy = false;
      if (after.kind === "exit") return after.code;
      failed = after.failed;
    }
  } catch (error) {
    if (error instanceof Stopped && error.by !== "interrupt") return exitCodes[error.by];
    throw error;
  }
}

function complain(code: number, ...lines: readonly string[]): number {
  writeSync(2, `${lines.join("\n")}\n`);
  return code;
}

interface AgentParts {
  readonly args: Arguments;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly rules: readonly Rule[];
  readonly attempt: number;
  readonly out: Output;
  readonly stop: StopRequest;
  readonly diary: Diary;
  readonly inbox: Inbox;
  readonly conversations: Conversations;
}

/** What the process does after a turn. */
type After = { readonly kind: "next"; readonly failed: boolean } | { readonly kind: "exit"; readonly code: number };

const nothingToDo: readonly Step[] = [{ kind: "say", line: 0, say: "nothing to do", usage: undefined }];

/** One process of the scripted agent: a conversation, and a rule for each of its turns. */
class Agent {
  readonly #parts: AgentParts;
  #conversation: Conversation;
  #results = 0;

  constructor(parts: AgentParts, conversation: Conversation) {
    this.#parts = parts;
    this.#conversation = conversation;
  }

  /** Follows the rule for this prompt from `init` to `result`. Throws `Stopped` when a signal ends the process. */
  async takeTurn({ text: prompt, id }: Extract<Arrival, { kind: "prompt" }>): Promise<After> {
    const { args, cwd, diary, inbox, stop, out, env } = this.#parts;
    const facts = this.#facts(prompt);
    const steps = fillTemplates(chooseRule(this.#parts.rules, facts)?.do ?? nothingToDo, this.#templates(facts));
    this.#begin(prompt, steps);
    const { id: session, turns: number } = this.#conversation;
    diary.input({ session, turn: number, attempt: facts.attempt, text: prompt });
    const turn = new Turn({ out, session, number, model: args.model, index: this.#results });
    if (!opensWith("noInit", steps))
      await turn.open({ cwd, permissionMode: args.permissionMode, mcpServers: listed(args.mcpPrograms) });
    const gets = async (message: { readonly id: string | undefined; readonly text: string }): Promise<void> => {
      if (args.replays) await out.event(replayedEvent(session, message));
    };
    await gets({ id, text: prompt });
    const hears = async (message: { readonly id: string | undefined; readonly text: string }): Promise<void> => {
      diary.input({ session, turn: number, attempt: facts.attempt, text: message.text });
      await gets(message);
    };
    const ending = await this.#ending(turn, () =>
      performSteps(steps, {
        turn,
        prompt,
        out,
        stop,
        diary,
        inbox,
        cwd,
        env,
        mcpPrograms: args.mcpPrograms,
        maxBudgetUsd: args.maxBudgetUsd,
        hears,
      }),
    );
    if (ending.kind === "exit") return ending;
    return this.#finish(turn, ending);
  }

  #facts(input: string): TurnFacts {
    const { env, attempt } = this.#parts;
    return {
      agent: env.OVERSTORY_AGENT_NAME ?? "",
      capability: env.OVERSTORY_CAPABILITY ?? "",
      task: env.OVERSTORY_TASK_ID ?? "",
      turn: this.#conversation.turns + 1,
      attempt,
      input,
    };
  }

  #templates(facts: TurnFacts): TemplateSource {
    const { env, cwd } = this.#parts;
    return {
      fact(name) {
        if (name === "cwd") return cwd;
        return name === "branch" ? currentBranch(cwd) : String(facts[name]);
      },
      variable: (name) => env[name] ?? "",
    };
  }

  /** The turn counts from here on, whatever becomes of it: a killed turn was still a turn. */
  #begin(prompt: string, steps: readonly Step[]): void {
    const { args, conversations } = this.#parts;
    const moves = opensWith("newSessionId", steps) && this.#conversation.id === args.resume;
    const { id, turns, inputs } = this.#conversation;
    this.#conversation = {
      ...this.#conversation,
      id: moves ? crypto.randomUUID() : id,
      turns: turns + 1,
      inputs: [...inputs, prompt],
    };
    conversations.save(this.#conversation);
  }

  async #ending(turn: Turn, perform: () => Promise<Ending>): Promise<Ending> {
    try {
      return await perform();
    } catch (error) {
      if (error instanceof Stopped && (error.by === "SIGINT" || error.by === "interrupt")) return turn.interrupted();
      throw error;
    }
  }

  async #finish(turn: Turn, ending: Exclude<Ending, { kind: "exit" }>): Promise<After> {
    const { args, conversations, stop } = this.#parts;
    this.#conversation = withTokens(this.#conversation, args.model, turn.tokens);
    conversations.save(this.#conversation);
    await turn.finish(ending, this.#conversation.tokens);
    this.#results++;
    if (["api-error", "budget", "session-lost"].includes(ending.kind)) return { kind: "exit", code: 1 };
    if (ending.kind !== "interrupted") return { kind: "next", failed: ending.kind === "failed" };
    if (stop.cause === "SIGINT") return { kind: "exit", code: exitCodes.SIGINT };
    stop.reset();
    return { kind: "next", failed: false };
  }
}

/** As the imitated program lists them, whether they were needed or not. */
const listed = (programs: readonly McpProgram[]): readonly McpServer[] =>
  programs.map(({ name }) => ({ name, status: "connected", source: "dynamic" }));

/** Only the steps at the very start say how a turn opens; the scenario's check keeps them there. */
function opensWith(kind: Step["kind"], steps: readonly Step[]): boolean {
  return steps.some((step) => step.kind === kind);
}

function currentBranch(cwd: string): string {
  const asked = Bun.spawnSync({ cmd: ["git", "symbolic-ref", "--short", "-q", "HEAD"], cwd });
  return asked.success ? asked.stdout.toString().trim() : "";
}

interface Arguments {
  readonly version: boolean;
  readonly model: string;
  readonly permissionMode: string;
  readonly resume: string | undefined;
  readonly session: string | undefined;
  readonly mcpPrograms: readonly McpProgram[];
  readonly systemPrompt: string | undefined;
  /** Messages of the user are repeated when the model gets them. */
  readonly replays: boolean;
  /** What a turn may cost, in dollars. */
  readonly maxBudgetUsd: number | undefined;
}

const switches = [
  "-p",
  "--print",
  "--verbose",
  "--strict-mcp-config",
  "--include-partial-messages",
  "--replay-user-messages",
  "--version",
  "-v",
] as const;
const withValue = [
  "--output-format",
  "--input-format",
  "--permission-mode",
  "--permission-prompt-tool",
  "--model",
  "--resume",
  "--session-id",
  "--settings",
  "--setting-sources",
  "--max-budget-usd",
  "--mcp-config",
  "--append-system-prompt",
  "--append-system-prompt-file",
] as const;
type Switch = (typeof switches)[number];
type Option = (typeof withValue)[number];

const defaultModel = "scripted-model";
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Understands the part of the imitated command line that an orchestrator uses; the refusal is one line for stderr. */
function parseArguments(argv: readonly string[]): Result<Arguments, string> {
  const given = collect(argv);
  if (!given.ok) return given;
  const { on, values } = given.value;
  const version = on.has("--version") || on.has("-v");
  const problem = version ? undefined : argumentProblem(on, values);
  if (problem !== undefined) return no(problem);
  const mcpPrograms = readMcpPrograms(values.get("--mcp-config"));
  if (!mcpPrograms.ok) return mcpPrograms;
  const systemPrompt = readSystemPrompt(values);
  if (!systemPrompt.ok) return systemPrompt;
  return ok({
    version,
    model: values.get("--model") ?? defaultModel,
    permissionMode: values.get("--permission-mode") ?? "default",
    resume: values.get("--resume"),
    session: values.get("--session-id"),
    mcpPrograms: mcpPrograms.value,
    systemPrompt: systemPrompt.value,
    replays: on.has("--replay-user-messages"),
    maxBudgetUsd: values.has("--max-budget-usd") ? Number(values.get("--max-budget-usd")) : undefined,
  });
}

interface Given {
  readonly on: Set<Switch>;
  readonly values: Map<Option, string>;
}

function collect(argv: readonly string[]): Result<Given, string> {
  const on = new Set<Switch>();
  const values = new Map<Option, string>();
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const simple = switches.find((known) => known === word);
    if (simple !== undefined) {
      on.add(simple);
      continue;
    }
    const [name = word, ...after] = word.startsWith("--") ? word.split("=") : [word];
    const option = withValue.find((known) => known === name);
    if (option === undefined) return no(`error: unknown ${word.startsWith("-") ? "option" : "argument"} '${word}'`);
    const value = after.length > 0 ? after.join("=") : rest.shift();
    if (value === undefined) return no(`error: option '${option} <value>' argument missing`);
    values.set(option, value);
  }
  return ok({ on, values });
}

function argumentProblem(on: Given["on"], values: Given["values"]): string | undefined {
  if (!on.has("-p") && !on.has("--print")) return "Error: the scripted agent has no screen; use -p";
  for (const option of ["--input-format", "--output-format"] as const) {
    if (values.get(option) !== "stream-json") return `Error: the scripted agent needs ${option} stream-json`;
  }
  if (!on.has("--verbose")) return "Error: When using --print, --output-format=stream-json requires --verbose";
  const budget = values.get("--max-budget-usd");
  if (budget !== undefined && !(Number(budget) > 0)) return "error: option '--max-budget-usd <amount>' is invalid";
  const session = values.get("--session-id");
  if (session !== undefined && !uuid.test(session)) return "Error: Invalid session ID. Must be a valid UUID.";
  if (session !== undefined && values.has("--resume")) return "Error: --session-id cannot be used with --resume";
  return undefined;
}

/** Servers are started when a step calls one of their tools; those that are reached otherwise are not for us. */
function readMcpPrograms(config: string | undefined): Result<readonly McpProgram[], string> {
  if (config === undefined) return ok([]);
  try {
    const value: unknown = JSON.parse(config.trimStart().startsWith("{") ? config : readFileSync(config, "utf8"));
    if (typeof value !== "object" || value === null || !("mcpServers" in value)) {
      return no(`Error: Invalid MCP configuration: "mcpServers" is missing in ${config}`);
    }
    return ok(Object.entries(Object(value.mcpServers)).map(([name, server]) => programOf(name, Object(server))));
  } catch (error) {
    return no(`Error: Invalid MCP configuration: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const programOf = (name: string, { command, args, env }: Record<string, unknown>): McpProgram => ({
  name,
  argv: [String(command), ...(Array.isArray(args) ? args.map(String) : [])],
  env: Object.fromEntries(Object.entries(Object(env)).map(([key, value]) => [key, String(value)])),
});

function readSystemPrompt(values: Given["values"]): Result<string | undefined, string> {
  const file = values.get("--append-system-prompt-file");
  if (file === undefined) return ok(values.get("--append-system-prompt"));
  return existsSync(file) ? ok(readFileSync(file, "utf8")) : no(`Error: Append system prompt file not found: ${file}`);
}
