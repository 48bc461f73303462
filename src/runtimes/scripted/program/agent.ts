import type { Arguments } from "./arguments.ts";
import { type Conversation, type Conversations, withTokens } from "./conversation.ts";
import type { Diary } from "./diary.ts";
import type { McpProgram } from "./mcp.ts";
import { type Ending, performSteps } from "./perform.ts";
import { chooseRule, type Rule, type TurnFacts } from "./scenario/rule.ts";
import type { Step } from "./scenario/step.ts";
import { fillTemplates, type TemplateSource } from "./scenario/template.ts";
import { exitCodes, Stopped, type StopRequest } from "./stop.ts";
import type { McpServer } from "./stream/events.ts";
import type { Inbox } from "./stream/inbox.ts";
import type { Output } from "./stream/output.ts";
import { Turn } from "./turn.ts";

export interface AgentParts {
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
export type After =
  | { readonly kind: "next"; readonly failed: boolean }
  | { readonly kind: "exit"; readonly code: number };

const nothingToDo: readonly Step[] = [{ kind: "say", line: 0, say: "nothing to do", usage: undefined }];

/** One process of the scripted agent: a conversation, and a rule for each of its turns. */
export class Agent {
  readonly #parts: AgentParts;
  #conversation: Conversation;
  #results = 0;

  constructor(parts: AgentParts, conversation: Conversation) {
    this.#parts = parts;
    this.#conversation = conversation;
  }

  /** Follows the rule for this prompt from `init` to `result`. Throws `Stopped` when a signal ends the process. */
  async takeTurn(prompt: string): Promise<After> {
    const { args, cwd, diary, inbox, stop, out, env } = this.#parts;
    const facts = this.#facts(prompt);
    const steps = fillTemplates(chooseRule(this.#parts.rules, facts)?.do ?? nothingToDo, this.#templates(facts));
    this.#begin(prompt, steps);
    const { id: session, turns: number } = this.#conversation;
    diary.input({ session, turn: number, attempt: facts.attempt, text: prompt });
    const turn = new Turn({ out, session, number, model: args.model, index: this.#results });
    if (!opensWith("noInit", steps))
      await turn.open({ cwd, permissionMode: args.permissionMode, mcpServers: listed(args.mcpPrograms) });
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
