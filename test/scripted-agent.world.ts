import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const recordings = join(import.meta.dir, "fixtures/claude");
const launcher = resolve(import.meta.dir, "../scripts/bun");
const entry = resolve(import.meta.dir, "../src/runtimes/scripted/program/run.ts");
/** The command line up to the arguments that say how to run. */
export const program = [launcher, entry];
export const usual = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];

/** What the tests look at in an event; each kind of event has only some of it. */
export interface Event {
  readonly type: string;
  readonly subtype: string;
  readonly session_id: string;
  readonly model: string;
  readonly attempt: number;
  readonly message: { readonly id: string; readonly content: readonly [Block, ...Block[]] };
  readonly tool_use_result: object | string;
  readonly rate_limit_info: { readonly resetsAt: number };
  readonly response: object;
  readonly result: string;
  readonly result_index: number;
  readonly errors: readonly [string, ...string[]];
  readonly is_error: boolean;
  readonly num_turns: number;
  readonly total_cost_usd: number;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
  readonly modelUsage: Readonly<Record<string, { readonly inputTokens: number }>>;
  readonly model_usage_since_last_result: object;
  readonly memory_paths: object;
}

interface Block {
  readonly type: string;
  readonly text: string;
  readonly name: string;
  readonly input: { readonly command: string };
  readonly content: string;
  readonly is_error: boolean;
}

interface DiaryLine {
  readonly attempt: number;
  readonly pid: number;
  readonly command: string;
}

interface Options {
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  /** Instead of the usual arguments, not besides them. */
  readonly argv?: readonly string[];
}

/** A home, a project directory and the agents started in them; `end` leaves nothing behind. */
export class World {
  readonly root = mkdtempSync(join(tmpdir(), "scripted-agent-"));
  readonly cwd = join(this.root, "project");
  readonly state = join(this.root, "state");
  readonly #agents: AgentProcess[] = [];
  readonly #pids: number[] = [];

  constructor() {
    mkdirSync(this.cwd);
    mkdirSync(join(this.root, "bin"));
  }

  /** Starts an agent that follows this scenario. */
  start(scenario: string | undefined, { args = [], argv, env = {} }: Options = {}): AgentProcess {
    const path = join(this.root, "scenario.yaml");
    if (scenario !== undefined) writeFileSync(path, scenario);
    const child = Bun.spawn([...program, ...(argv ?? [...usual, ...args])], {
      cwd: this.cwd,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      env: {
        PATH: `${join(this.root, "bin")}:${process.env.PATH}`,
        HOME: this.root,
        OVERSTORY_AGENT_NAME: "b1",
        OVERSTORY_CAPABILITY: "builder",
        OVERSTORY_TASK_ID: "T-1",
        OVERSTORY_SCENARIO_STATE: this.state,
        ...(scenario === undefined ? {} : { OVERSTORY_SCENARIO: path }),
        ...env,
      },
    });
    const agent = new AgentProcess(child);
    this.#agents.push(agent);
    return agent;
  }

  /** One process, these prompts, end of input. */
  async run(scenario: string | undefined, prompts: readonly string[], options: Options = {}): Promise<Finished> {
    const agent = this.start(scenario, options);
    for (const prompt of prompts) agent.prompt(prompt);
    return agent.finish();
  }

  file(name: string): string {
    return readFileSync(join(this.cwd, name), "utf8");
  }

  has(name: string): boolean {
    return existsSync(join(this.cwd, name));
  }

  /** A file of the agent's diary. */
  diary(file: string, agent = "b1"): DiaryLine[] {
    const lines = readFileSync(join(this.state, agent, file), "utf8")
      .trimEnd()
      .split("\n");
    return lines.map((line) => JSON.parse(line));
  }

  /** The one process the agent left running; it ends with the test. */
  child(): DiaryLine {
    const [child] = this.diary("children.ndjson");
    if (child === undefined) throw new Error("no child was recorded");
    this.adopt(child.pid);
    return child;
  }

  /** Remembers a process that is not our child, so that it ends with the test. */
  adopt(pid: number): void {
    this.#pids.push(pid);
  }

  async end(): Promise<void> {
    for (const agent of this.#agents) await agent.kill();
    for (const pid of this.#pids) if (isAlive(pid)) process.kill(pid, "SIGKILL");
    rmSync(this.root, { recursive: true, force: true });
  }
}

interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly events: Events;
}

export class AgentProcess {
  readonly child: Bun.Subprocess<"pipe", "pipe", "pipe">;
  readonly #stderr: Promise<string>;
  readonly #decoder = new TextDecoder();
  stdout = "";
  readonly #chunks: AsyncIterator<Uint8Array>;

  constructor(child: Bun.Subprocess<"pipe", "pipe", "pipe">) {
    this.child = child;
    this.#stderr = new Response(child.stderr).text();
    this.#chunks = child.stdout[Symbol.asyncIterator]();
  }

  prompt(text: string): void {
    this.send({ type: "user", message: { role: "user", content: [{ type: "text", text }] } });
  }

  send(message: object | string): void {
    this.child.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
    void this.child.stdin.flush();
  }

  /** Reads until the output so far satisfies the test; false when the output ended before. */
  async until(wanted: (stdout: string) => boolean): Promise<boolean> {
    while (!wanted(this.stdout)) {
      const { done, value } = await this.#chunks.next();
      if (done) return false;
      this.stdout += this.#decoder.decode(value, { stream: true });
    }
    return true;
  }

  /** Closes standard input and waits for the end. */
  async finish(): Promise<Finished> {
    this.child.stdin.end();
    await this.until(() => false);
    const code = await this.child.exited;
    return { code, stdout: this.stdout, stderr: await this.#stderr, events: jsonLines(this.stdout) };
  }

  async kill(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill("SIGKILL");
    await this.child.exited;
  }
}

/** Reading past the end of what arrived fails the test by itself, so the tests need not ask each time. */
export class Events extends Array<Event> {
  /** What is made from events is a plain list. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  get first(): Event {
    return this.nth(0);
  }

  get last(): Event {
    return this.nth(-1);
  }

  nth(at: number): Event {
    const event = this.at(at);
    if (event === undefined) throw new Error(`there is no event ${at} among ${this.length}`);
    return event;
  }

  /** The content blocks of the model's replies. */
  get blocks(): Block[] {
    return this.flatMap((event) => (event.type === "assistant" ? event.message.content : []));
  }

  get toolResults(): Block[] {
    return this.flatMap((event) => (event.type === "user" ? event.message.content : []));
  }

  get results(): Event[] {
    return this.filter((event) => event.type === "result");
  }

  /** The kind of each event, in order. */
  get outline(): string[] {
    return this.map((event) => event.subtype ?? event.type);
  }
}

/** The lines that are JSON; scenarios may print others on purpose. */
export function jsonLines(text: string): Events {
  const events = new Events();
  for (const line of text.split("\n")) {
    try {
      if (line !== "") events.push(JSON.parse(line));
    } catch {
      // Not an event; tests about such lines look at the raw output.
    }
  }
  return events;
}

/** What the real program wrote. */
export const recorded = (name: string): Events => jsonLines(readFileSync(join(recordings, `${name}.ndjson`), "utf8"));

/** A process that has ended but was not collected yet does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync("/proc/self") || !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    // Both ways to fail mean that there is no such process.
    return false;
  }
}

export async function eventually(holds: () => boolean, withinMs = 30_000): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (!holds()) {
    if (Date.now() > deadline) return false;
    await Bun.sleep(5);
  }
  return true;
}

/** Lists whose entries tell more than their number. */
const telling = ["content", "tool_result_meta"];

/** Types in place of values. */
export function shape(value: unknown): unknown {
  if (Array.isArray(value)) return "list";
  if (value === null || typeof value !== "object") return value === null ? "null" : typeof value;
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
    return [key, telling.includes(key) && Array.isArray(inner) ? inner.map(shape) : shape(inner)];
  });
  return Object.fromEntries(entries);
}
