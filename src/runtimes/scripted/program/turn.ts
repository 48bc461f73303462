import {
  assistantEvent,
  type Block,
  initEvent,
  type McpServer,
  rejectedToolEvent,
  type ToolAnswer,
  toolResultEvent,
  userEvent,
} from "./stream/events.ts";
import type { Output } from "./stream/output.ts";
import { type Outcome, resultEvent } from "./stream/result.ts";
import { addTokens, noTokens, type Tokens, tokensPerReply } from "./stream/tokens.ts";

export interface TurnParts {
  readonly out: Output;
  readonly session: string;
  readonly model: string;
  readonly number: number;
  /** How many results this process gave before. */
  readonly index: number;
}

export interface ToolCall {
  readonly name: string;
  readonly input: unknown;
  readonly usage?: Tokens | undefined;
}

/**
 * The events of one turn. Blocks belong to one model reply until a tool result comes between them; a reply has one id
 * and one usage, however many blocks it has.
 */
export class Turn {
  readonly #parts: TurnParts;
  readonly #startedAt = Date.now();
  readonly #replies: Tokens[] = [];
  #replying = false;
  #openCall: string | undefined;
  /** The last text said, which is the answer of the turn if nothing else ends it. */
  lastText = "";

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  get session(): string {
    return this.#parts.session;
  }

  get tokens(): Tokens {
    return this.#replies.reduce(addTokens, noTokens);
  }

  open(facts: { readonly cwd: string; readonly permissionMode: string; readonly mcpServers: readonly McpServer[] }) {
    const { out, session, model } = this.#parts;
    return out.event(initEvent({ session, model, ...facts }));
  }

  async say(text: string, usage?: Tokens): Promise<void> {
    this.lastText = text;
    await this.#emit({ type: "text", text }, usage);
  }

  async think(thinking: string, usage?: Tokens): Promise<void> {
    await this.#emit({ type: "thinking", thinking, signature: "c2NyaXB0ZWQ=" }, usage);
  }

  /** Reports the call, does it, reports its result. */
  async call({ name, input, usage }: ToolCall, run: () => Promise<ToolAnswer> | ToolAnswer): Promise<ToolAnswer> {
    this.#ensureReply(usage);
    const id = `toolu_${this.#replyId()}_0`;
    await this.#emit({ type: "tool_use", id, name, input });
    this.#openCall = id;
    const answer = await run();
    await this.closeCall(answer);
    return answer;
  }

  /** Reports the result of the call that is under way, if there is one. */
  async closeCall(answer: ToolAnswer): Promise<void> {
    const call = this.#openCall;
    if (call === undefined) return;
    this.#openCall = undefined;
    this.#replying = false;
    await this.#parts.out.event(toolResultEvent(this.session, call, answer));
  }

  /** The line of a text event, unsent: for steps that care about its size. */
  textLine(text: string): string {
    this.#ensureReply();
    return JSON.stringify(this.#event({ type: "text", text }));
  }

  /** Tells the reader that the user broke in, in the words of the imitated program. */
  async interrupted(): Promise<Outcome> {
    const { out, session } = this.#parts;
    const call = this.#openCall;
    if (call !== undefined) await out.event(rejectedToolEvent(session, call));
    const text = `[Request interrupted by user${call === undefined ? "" : " for tool use"}]`;
    await out.event(userEvent(session, [{ type: "text", text }]));
    return { kind: "interrupted", duringTool: call !== undefined };
  }

  /** `total` is what the conversation has used, this turn included. */
  finish(outcome: Outcome, total: Readonly<Record<string, Tokens>>): Promise<void> {
    const { out, session, model, index } = this.#parts;
    const now = Date.now();
    const account = { session, model, index, total, now, startedAt: this.#startedAt, replies: this.#replies.length };
    return out.event(resultEvent(outcome, { ...account, tokens: this.tokens }));
  }

  #emit(block: Block, usage?: Tokens): Promise<void> {
    this.#ensureReply(usage);
    return this.#parts.out.event(this.#event(block));
  }

  #event(block: Block): object {
    const { session, model } = this.#parts;
    return assistantEvent({ session, model, block, reply: this.#replyId(), tokens: this.#replies.at(-1) ?? noTokens });
  }

  #ensureReply(usage?: Tokens): void {
    if (this.#replying && usage === undefined) return;
    if (this.#replying) this.#replies.pop();
    this.#replies.push(usage ?? tokensPerReply);
    this.#replying = true;
  }

  /** Unique in the conversation, because a turn's number never comes back. */
  #replyId(): string {
    return `${this.session.slice(0, 8)}_${this.#parts.number}_${this.#replies.length}`;
  }
}
