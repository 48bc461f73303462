import type { EventData } from "../../domain/event/event-kinds.ts";
import { LineSplitter } from "../../domain/turn/line-splitter.ts";
import { LastWords } from "../../domain/turn/program-words.ts";
import type { ToolEnd, ToolStart, TurnEnded, TurnEvent } from "../../domain/turn/turn-event.ts";
import type { GrowingFile } from "../../ports/agent-process.ts";
import type { LineReader, Reply } from "../../ports/runtime.ts";

/** An event with its place in the output, by which it is stored once however often the file is read. */
export interface PlacedEvent {
  readonly line: number;
  readonly part: number;
  readonly event: TurnEvent;
  /** Of the end of a tool's call: what its start said. */
  readonly call?: EndedCall;
}

/** What an earlier supervisor stored of the output: so many lines, and when it stored the start of each tool's call. */
export interface StoredOutput {
  readonly lines: number;
  readonly toolStarts: ReadonlyMap<string, number>;
}

/** What the agent must be told about a line of its output. */
export interface PlacedReply {
  readonly line: number;
  readonly part: number;
  readonly reply: Reply;
}

export type Hopeless = Extract<TurnEvent, { readonly kind: "hopeless" }>;

const chunkBytes = 256 * 1024;

/**
 * Follows one turn's output file line by line. A successor reads it from the start, since what its predecessor had read
 * may say that the turn is over, but gives out only lines that are not stored yet.
 */
export class OutputLog {
  readonly #file: GrowingFile;
  readonly #read: LineReader;
  readonly #lines = new LineSplitter();
  readonly #stored: StoredOutput;
  readonly #now: () => number;
  readonly #calls = new ToolCalls();
  #offset = 0;
  #line = 0;
  readonly #words = new LastWords();
  /** No line so far meant anything to the runtime. */
  saidNothing = true;
  /** The runtime's last word that the turn is over, once seen. Mail that it takes up after that word begins it anew. */
  ended: TurnEnded | undefined;
  /** Nothing good can come of the turn any more, unless it ended well after all. */
  hopeless: Hopeless | undefined;
  #endedUsd: number | null = null;
  #runningUsd: number | null = null;

  constructor(file: GrowingFile, read: LineReader, stored: StoredOutput, now: () => number) {
    this.#file = file;
    this.#read = read;
    this.#stored = stored;
    this.#now = now;
  }

  /** Start of the first line that is not complete, and the number of lines before it: what a successor finds stored. */
  get place(): { readonly offset: number; readonly lines: number } {
    return { offset: this.#offset - this.#lines.pending, lines: this.#line };
  }

  /** What the turn cost so far, however often the runtime said that it was over; null while that is not known. */
  get costUsd(): number | null {
    return this.#runningUsd === null ? this.#endedUsd : (this.#endedUsd ?? 0) + this.#runningUsd;
  }

  /** The newest lines that were no events. */
  get words(): string {
    return this.#words.text;
  }

  /** The agent has called a tool, and neither the tool nor the model has said anything since. */
  get hasOpenCall(): boolean {
    return this.#calls.isWaitedFor;
  }

  /** The guard refused this call: nothing runs that the turn should wait for. */
  refused(id: string): void {
    this.#calls.refused(id);
  }

  /** Reads the output added since the last call. `grew` is also true when the new output completed no line. */
  take(): { readonly events: PlacedEvent[]; readonly replies: PlacedReply[]; readonly grew: boolean } {
    const events: PlacedEvent[] = [];
    const replies: PlacedReply[] = [];
    const before = this.#offset;
    for (let size = this.#file.size(); this.#offset < size; ) {
      const bytes = this.#file.read(this.#offset, Math.min(chunkBytes, size - this.#offset));
      if (bytes.length === 0) break;
      this.#offset += bytes.length;
      for (const line of this.#lines.push(bytes)) this.#interpret(line, events, replies);
    }
    return { events, replies, grew: this.#offset > before };
  }

  /** The last line of a process that ended without a newline. */
  finish(): PlacedEvent[] {
    const events: PlacedEvent[] = [];
    const rest = this.#lines.flush();
    if (rest !== undefined) this.#interpret(rest, events, []);
    return events;
  }

  #interpret(line: string, into: PlacedEvent[], asked: PlacedReply[]): void {
    const { events, replies } = this.#read(line);
    const isNew = this.#line >= this.#stored.lines;
    events.forEach((event, part) => {
      if (event.kind === "malformed") this.#words.add(event.text);
      else this.saidNothing = false;
      if (event.kind === "hopeless") this.hopeless = event;
      if (event.kind === "turn-ended") this.#end(event);
      if (event.kind === "cost") this.#runningUsd = event.usd;
      if (event.kind === "heard") this.ended = undefined;
      const call = this.#calls.see(event, isNew ? this.#now() : this.#storedAt(event));
      if (isNew) into.push({ line: this.#line, part, event, ...(call === undefined ? {} : { call }) });
    });
    // A line that is stored was answered before it was stored.
    if (isNew) asked.push(...replies.map((reply, part) => ({ line: this.#line, part, reply })));
    this.#line++;
  }

  #storedAt(event: TurnEvent): number | null {
    return event.kind === "tool-start" ? (this.#stored.toolStarts.get(event.id) ?? null) : null;
  }

  #end(event: TurnEnded): void {
    this.ended = event;
    this.hopeless = undefined;
    // The sum at the end of a turn includes the sums told on the way.
    if (event.costUsd !== null) this.#endedUsd = (this.#endedUsd ?? 0) + event.costUsd;
    else if (this.#runningUsd !== null) this.#endedUsd = (this.#endedUsd ?? 0) + this.#runningUsd;
    this.#runningUsd = null;
  }
}

/** What the end of a call is put on record with besides its own words. */
type EndedCall = Pick<EventData<"tool_end">, "tool" | "summary" | "durationMs">;

interface Moment {
  /** By the runtime's own word, ms UTC. */
  readonly stated: number | null;
  /** When the line was read, ms UTC; null when an earlier supervisor read it and did not store when. */
  readonly read: number | null;
}

/** The calls of tools in one turn that have begun and not ended. The end of a call names only the id of the call. */
class ToolCalls {
  readonly #open = new Map<string, ToolStart & { readonly began: Moment }>();
  /** Calls whose answer the model waits for. Not every program tells the end of each: a model that speaks again waits for none. */
  readonly #waitedFor = new Set<string>();

  get isWaitedFor(): boolean {
    return this.#waitedFor.size > 0;
  }

  refused(id: string): void {
    this.#waitedFor.delete(id);
  }

  /** To be given every event of the turn in order. Answers for the end of a call. */
  see(event: TurnEvent, readAt: number | null): EndedCall | undefined {
    if (event.kind === "text" || event.kind === "thinking" || event.kind === "turn-ended") this.#waitedFor.clear();
    if (event.kind === "tool-start") {
      this.#open.set(event.id, { ...event, began: { stated: event.at, read: readAt } });
      this.#waitedFor.add(event.id);
      return undefined;
    }
    return event.kind === "tool-end" ? this.#end(event, readAt) : undefined;
  }

  #end({ id, at }: ToolEnd, readAt: number | null): EndedCall {
    const call = this.#open.get(id);
    this.#open.delete(id);
    this.#waitedFor.delete(id);
    if (call === undefined) return { tool: null, summary: null, durationMs: null };
    return { tool: call.name, summary: call.summary, durationMs: between(call.began, { stated: at, read: readAt }) };
  }
}

/** Two clocks are never mixed: a line is read up to a second after it was written. */
function between(began: Moment, ended: Moment): number | null {
  const stated = difference(began.stated, ended.stated);
  return stated ?? difference(began.read, ended.read);
}

const difference = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : Math.max(0, to - from);
