import type { ToolUse } from "../../../domain/guard/tool-use.ts";
import type { FailureCause } from "../../../domain/turn/failure.ts";
import type { TurnEvent } from "../../../domain/turn/turn-event.ts";
import type { AgentAnswer, LineReader, Reading, Reply } from "../../../ports/runtime.ts";
import { costSoFar, ended } from "../exec-json.ts";
import { type Fields, fields, number, objects, text } from "../json-fields.ts";
import type { Opening } from "./driver.ts";
import { type AcpCall, AcpCalls } from "./tool-calls.ts";
import { usageAccount } from "./usage.ts";

/** What a program says in a way of its own. */
export interface AcpDialect {
  /** The mode of the conversation in which it asks before it uses tools; null where that is the plan's matter. */
  readonly mode: string | null;
  readonly modelOption: string | null;
  /** Whose tokens the answer to a prompt tells; `none`: those of nothing that we could count. */
  readonly usage: "prompt" | "process" | "none";
  /** Reads a line that is no message of the protocol: a part of ours inside the program prints such lines. */
  readonly aside?: (line: Fields) => Aside;
  nameOf(call: AcpCall): string;
  toolUse(call: AcpCall): ToolUse;
  causeOf(said: string): FailureCause;
}

/** What such a line means. */
export interface Aside {
  readonly events: readonly TurnEvent[];
  /** What the program says that the call of a model cost, which the line is about. */
  readonly costUsd?: number | undefined;
  /** What went wrong, where the line says more than the answer to the prompt will. */
  readonly problem?: Problem;
}

interface Problem {
  readonly cause: FailureCause;
  readonly said: string;
}

/** A request of ours as a line. */
export const call = (id: number, method: string, params: object): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;

const answer = (id: unknown, body: object): string => `${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`;

/**
 * Reads what an ACP program says, and says what is due. Which answer belongs to which request follows from the lines alone,
 * so the reader of a later supervisor comes to the same place by reading them again.
 */
export function acpReader(dialect: AcpDialect, opening: string): LineReader {
  const turn = new AcpTurn(dialect, openingIn(opening));
  return (line) => {
    if (line.trim() === "") return nothing;
    const message = objectIn(line);
    if (message === undefined) return { events: [{ kind: "malformed", bytes: line.length, text: line }], replies: [] };
    return turn.read(message);
  };
}

const nothing: Reading = { events: [], replies: [] };

/** What is to be done with the answer to a request of ours. */
type Expecting = (result: Fields | undefined, problem: Fields | undefined) => Reading;

/** A program that is told over and over why its tools are refused does not get on. */
const mostFollowUps = 10;

class AcpTurn {
  readonly #dialect: AcpDialect;
  readonly #opening: Opening;
  readonly #calls: AcpCalls;
  readonly #usage: ReturnType<typeof usageAccount>;
  readonly #expected = new Map<number, Expecting>();
  #nextId = 0;
  #sessionId = "";
  #version: string | null = null;
  /** Whether a prompt is at work. What comes before is the earlier conversation, told again. */
  #isPrompted = false;
  #prompts = 0;
  /** Words come in small pieces; they are put together up to the next thing of another kind. */
  #words = "";
  #thoughts = "";
  #lastWords: string | null = null;
  #error: string | null = null;
  #problem: Problem | null = null;
  /** What the conversation has cost. */
  #costUsd: number | null = null;
  /** What the calls of models in this turn have cost. */
  #callsUsd: number | null = null;
  /** Why tools were refused, which the model has not been told. */
  #untold: string[] = [];
  /** Nothing was said or done since a tool was refused. */
  #endsAtRefusal = false;

  constructor(dialect: AcpDialect, opening: Opening) {
    this.#dialect = dialect;
    this.#opening = opening;
    this.#calls = new AcpCalls((each) => dialect.nameOf(each));
    this.#usage = usageAccount(dialect.usage);
    this.#expect((result, problem) => this.#initialized(result, problem));
  }

  read(message: Fields): Reading {
    const { aside } = this.#dialect;
    if (aside !== undefined && message.jsonrpc === undefined) return this.#told(aside(message));
    const method = text(message.method);
    const params = fields(message.params) ?? {};
    if (method === "session/update") return this.#updated(fields(params.update) ?? {});
    if (method !== undefined) {
      if (!("id" in message)) return { events: [{ kind: "other", name: method }], replies: [] };
      return method === "session/request_permission"
        ? this.#asked(message.id, params)
        : { events: [{ kind: "other", name: method }], replies: [unknownMethod(message.id, method)] };
    }
    return this.#answered(message);
  }

  #told({ events, costUsd, problem }: Aside): Reading {
    this.#problem = problem ?? this.#problem;
    if (costUsd === undefined) return { events, replies: [] };
    this.#callsUsd = (this.#callsUsd ?? 0) + costUsd;
    return { events: [...events, ...costSoFar(this.#callsUsd)], replies: [] };
  }

  #answered(message: Fields): Reading {
    const id = number(message.id);
    const [result, problem] = [fields(message.result), fields(message.error)];
    const expecting = id === undefined ? undefined : this.#expected.get(id);
    if (id !== undefined) this.#expected.delete(id);
    if (expecting !== undefined) return expecting(result, problem);
    // A prompt that an earlier supervisor gave, for a reason that only it knew. It had the next number.
    const isBetween = this.#prompts > 0 && !this.#isPrompted;
    if (isBetween && id === this.#nextId && text(result?.stopReason) !== undefined) {
      this.#nextId++;
      return this.#prompted(result, problem);
    }
    return { events: [{ kind: "other", name: "answer" }], replies: [] };
  }

  #expect(then: Expecting): number {
    const id = this.#nextId++;
    this.#expected.set(id, then);
    return id;
  }

  #say(method: string, params: object, then: Expecting): Reply {
    return { kind: "say", text: call(this.#expect(then), method, params) };
  }

  #initialized(result: Fields | undefined, problem: Fields | undefined): Reading {
    if (result === undefined) return this.#over(problem, "program");
    const version = number(result.protocolVersion);
    if (version !== 1)
      return over("program", `it speaks version ${version ?? "unknown"} of the Agent Client Protocol, and we speak 1`);
    this.#version = text(fields(result.agentInfo)?.version) ?? null;
    const { cwd, mcpServers, resume } = this.#opening;
    if (resume === null) return said(this.#say("session/new", { cwd, mcpServers }, this.#begun));
    const can = fields(result.agentCapabilities);
    const goesOn = fields(fields(can?.sessionCapabilities)?.resume) !== undefined;
    // What cannot be gone on with begins anew, with what our records have of it.
    if (!goesOn && can?.loadSession !== true)
      return over("session_lost", "it cannot go on with an earlier conversation");
    this.#sessionId = resume;
    const method = goesOn ? "session/resume" : "session/load";
    return said(this.#say(method, { sessionId: resume, cwd, mcpServers }, this.#begun));
  }

  readonly #begun: Expecting = (result, problem) => {
    if (result === undefined && problem !== undefined)
      return this.#over(problem, this.#opening.resume === null ? undefined : "session_lost");
    this.#sessionId = text(result?.sessionId) ?? this.#sessionId;
    const model = modelIn(result);
    const providerSessionId = this.#sessionId;
    const events: TurnEvent[] = [{ kind: "session", providerSessionId, model, version: this.#version }];
    return { events, replies: [this.#chooseMode()] };
  };

  #chooseMode(): Reply {
    const { mode } = this.#dialect;
    if (mode === null) return this.#chooseModel();
    return this.#say("session/set_mode", { sessionId: this.#sessionId, modeId: mode }, (_, problem) =>
      problem === undefined ? said(this.#chooseModel()) : this.#over(problem, "mode"),
    );
  }

  #chooseModel(): Reply {
    const { model, prompt } = this.#opening;
    const { modelOption } = this.#dialect;
    if (model === null || modelOption === null) return this.#prompt(prompt);
    const chosen = { sessionId: this.#sessionId, configId: modelOption, value: model };
    return this.#say("session/set_config_option", chosen, (_, problem) =>
      problem === undefined ? said(this.#prompt(prompt)) : this.#over(problem, "model"),
    );
  }

  #prompt(words: string): Reply {
    this.#isPrompted = true;
    this.#prompts++;
    this.#endsAtRefusal = false;
    const prompt = [{ type: "text", text: words }];
    return this.#say("session/prompt", { sessionId: this.#sessionId, prompt }, (result, problem) =>
      this.#prompted(result, problem),
    );
  }

  #prompted(result: Fields | undefined, problem: Fields | undefined): Reading {
    const events = this.#flush();
    this.#isPrompted = false;
    if (result === undefined) return { events: [...events, ...this.#over(problem).events], replies: [] };
    events.push(...this.#usage(this.#prompts, result));
    const costUsd = this.#callsUsd || (this.#opening.resume === null ? this.#costUsd : null);
    const failure = this.#failureOf(text(result.stopReason) ?? "");
    if (failure !== null) return { events: [...events, ended(failure.cause, failure.said, { costUsd })], replies: [] };
    if (this.#endsAtRefusal && this.#untold.length > 0 && this.#prompts <= mostFollowUps) {
      const reasons = this.#untold.splice(0).map((reason) => `- ${reason}`);
      return { events, replies: [this.#prompt([refusedNotice, ...reasons, goOn].join("\n"))] };
    }
    return { events: [...events, ended(null, this.#lastWords, { costUsd })], replies: [] };
  }

  /** Some programs end their turn as if all were well when the provider has failed: only their last words tell. */
  #failureOf(stopReason: string): Problem | null {
    if (stopReason === "refusal") return { cause: "refusal", said: this.#lastWords ?? "" };
    if (stopReason !== "end_turn") return { cause: "unknown", said: `it ended its turn with: ${stopReason}` };
    return this.#error === null ? null : { cause: this.#dialect.causeOf(this.#error), said: this.#error };
  }

  #updated(update: Fields): Reading {
    const name = text(update.sessionUpdate) ?? "unknown";
    const other: TurnEvent = { kind: "other", name };
    if (!this.#isPrompted) return { events: [other], replies: [] };
    const words = text(fields(update.content)?.text) ?? "";
    switch (name) {
      case "agent_message_chunk": {
        // What the program says itself stands in a piece of its own.
        const own = ownWords.test(words);
        const events = own || this.#thoughts !== "" ? this.#flush() : [];
        this.#words += words;
        if (!own) this.#endsAtRefusal = false;
        this.#error = errorWords.test(words) ? words : null;
        return { events, replies: [] };
      }
      case "agent_thought_chunk": {
        const events = this.#words === "" ? [] : this.#flush();
        this.#thoughts += words;
        return { events, replies: [] };
      }
      case "tool_call":
      case "tool_call_update": {
        const events = this.#calls.events(update);
        const isNew = events.some(({ kind }) => kind === "tool-start");
        const isRefused = events.some((event) => event.kind === "tool-end" && event.failed);
        if (isNew && !isRefused) this.#goesOn();
        return { events: events.length === 0 ? [other] : [...this.#flush(), ...events], replies: [] };
      }
      case "usage_update": {
        const cost = fields(update.cost);
        if (cost?.currency === "USD") this.#costUsd = number(cost.amount) ?? this.#costUsd;
        return { events: [other], replies: [] };
      }
      default:
        return { events: [other], replies: [] };
    }
  }

  #goesOn(): void {
    this.#endsAtRefusal = false;
    this.#error = null;
  }

  #flush(): TurnEvent[] {
    const found: TurnEvent[] = [];
    if (this.#thoughts !== "") found.push({ kind: "thinking", text: this.#thoughts });
    if (this.#words !== "") {
      found.push({ kind: "text", text: this.#words });
      this.#lastWords = this.#words;
    }
    this.#thoughts = "";
    this.#words = "";
    return found;
  }

  /** The guard decides. An option is chosen by its kind: what is allowed or refused counts for this one use. */
  #asked(id: unknown, params: Fields): Reading {
    const told = fields(params.toolCall) ?? {};
    const call = this.#calls.learn(told);
    this.#goesOn();
    const events = [...this.#flush(), ...this.#calls.events(told, { isQuestion: true })];
    const options = objects(params.options);
    const use = this.#dialect.toolUse(call);
    const request = { kind: "permission", tool: this.#dialect.nameOf(call), id: call.id || null, use } as const;
    const form = (given: AgentAnswer): string => {
      if (given.kind === "refused") {
        this.#untold.push(given.reason);
        this.#endsAtRefusal = true;
      }
      const kind = given.kind === "granted" ? "allow_once" : "reject_once";
      const optionId = text(options.find((option) => option.kind === kind)?.optionId);
      const outcome = optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId };
      const reason = given.kind === "refused" ? { _meta: { reason: given.reason } } : {};
      return answer(id, { result: { outcome, ...reason } });
    };
    return {
      events: events.length === 0 ? [{ kind: "other", name: "request_permission" }] : events,
      replies: [{ kind: "ask", request, form }],
    };
  }

  /** The program refused a request of ours: the turn is over. */
  #over(problem: Fields | undefined, cause?: FailureCause): Reading {
    if (cause === undefined && this.#problem !== null) return over(this.#problem.cause, this.#problem.said);
    const words = problemIn(problem);
    return over(cause ?? (number(problem?.code) === loginRequired ? "login" : this.#dialect.causeOf(words)), words);
  }
}

const loginRequired = -32000;

const refusedNotice = "[OVERSTORY] A tool was not used, because the rules of this project refuse it:";
const goOn = "Go on with your task in another way.";

/** A program's own notices among the words of its model. */
const ownWords = /^(?:Info|Warning|Error): /;
const errorWords = /^Error: /;

const said = (reply: Reply): Reading => ({ events: [{ kind: "other", name: "answer" }], replies: [reply] });

const over = (cause: FailureCause, words: string): Reading => ({ events: [ended(cause, words)], replies: [] });

const unknownMethod = (id: unknown, method: string): Reply => ({
  kind: "say",
  text: answer(id, { error: { code: -32601, message: `${method} is not served here` } }),
});

/** An error has a message, and some programs say more in its data; HTTP statuses are codes in some. */
function problemIn(problem: Fields | undefined): string {
  if (problem === undefined) return "";
  const data = fields(problem.data);
  const more = text(problem.data) ?? text(data?.details) ?? text(data?.message) ?? text(data?.errorKind);
  const code = number(problem.code);
  const status = code !== undefined && code >= 400 && code < 600 ? `HTTP ${code}` : undefined;
  return [text(problem.message), more, status].filter((part) => part !== undefined && part !== "").join(": ");
}

/** The model of a conversation, where the program names it. */
function modelIn(result: Fields | undefined): string | null {
  const current = text(fields(result?.models)?.currentModelId);
  const option = objects(result?.configOptions);
  return current ?? text(option.find(({ category }) => category === "model")?.currentValue) ?? null;
}

function openingIn(kept: string): Opening {
  const given = objectIn(kept) ?? {};
  return {
    cwd: text(given.cwd) ?? "/",
    mcpServers: objects(given.mcpServers),
    prompt: text(given.prompt) ?? "",
    resume: text(given.resume) ?? null,
    model: text(given.model) ?? null,
  };
}

/** Undefined for a text that is no object in JSON. */
function objectIn(line: string): Fields | undefined {
  try {
    return fields(JSON.parse(line));
  } catch {
    return undefined;
  }
}
