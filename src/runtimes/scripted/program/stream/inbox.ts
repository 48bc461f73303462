/** One line of standard input that asks for something. */
export type Arrival =
  /** `id` is what the sender calls it. */
  | { readonly kind: "prompt"; readonly text: string; readonly id: string | undefined }
  | { readonly kind: "malformed"; readonly line: string };

export interface ControlRequest {
  readonly id: string;
  readonly subtype: string;
}

/** What a request of ours was answered with. */
export type ControlAnswer = Readonly<Record<string, unknown>>;

/**
 * Standard input as a queue of prompts. Control requests overtake the queue, because an interrupt is about the turn that
 * is running.
 */
export class Inbox {
  readonly #waiting: Arrival[] = [];
  readonly #asked = new Map<string, (answer: ControlAnswer | undefined) => void>();
  readonly #stray: (answer: ControlAnswer) => void;
  #ended = false;
  #wake: () => void = () => {};

  /** `stray` is called for an answer without a waiting request. */
  constructor(stray: (answer: ControlAnswer) => void) {
    this.#stray = stray;
  }

  /** Starts reading; `control` is called for each request as it arrives. */
  async read(source: AsyncIterable<Uint8Array | string>, control: (request: ControlRequest) => void): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of source) {
      rest += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(line, control);
    }
    this.#take(rest, control);
    this.#ended = true;
    this.#wake();
    for (const answered of this.#asked.values()) answered(undefined);
  }

  /** The answer to a request that was printed under this id; undefined when standard input ends before. */
  answerTo(id: string): Promise<ControlAnswer | undefined> {
    if (this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#asked.set(id, resolve));
  }

  /** The next prompt, or undefined when standard input has ended. */
  async next(): Promise<Arrival | undefined> {
    while (this.#waiting.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#waiting.shift();
  }

  /** A prompt that has arrived and waits, taken out of the queue. */
  takeWaiting(): Extract<Arrival, { kind: "prompt" }> | undefined {
    const [first] = this.#waiting;
    if (first?.kind !== "prompt") return undefined;
    this.#waiting.shift();
    return first;
  }

  #take(line: string, control: (request: ControlRequest) => void): void {
    if (line.trim() === "") return;
    const arrival = readLine(line);
    if (arrival === undefined) return;
    if (arrival.kind === "answer") {
      const answered = this.#asked.get(arrival.id) ?? this.#stray;
      this.#asked.delete(arrival.id);
      answered(arrival.answer);
      return;
    }
    if (arrival.kind === "control") {
      control(arrival.request);
      return;
    }
    this.#waiting.push(arrival);
    this.#wake();
  }
}

type Line =
  | Arrival
  | { readonly kind: "answer"; readonly id: string; readonly answer: ControlAnswer }
  | { readonly kind: "control"; readonly request: ControlRequest };

/** Undefined for JSON that asks for nothing here. */
function readLine(line: string): Line | undefined {
  const message = parseObject(line);
  if (message === undefined) return { kind: "malformed", line };
  if (message.type === "control_request") {
    const request = isObject(message.request) ? message.request : {};
    return { kind: "control", request: { id: String(message.request_id), subtype: String(request.subtype) } };
  }
  if (message.type === "control_response") {
    const response = isObject(message.response) ? message.response : {};
    const answer = isObject(response.response) ? response.response : { error: response.error };
    return { kind: "answer", id: String(response.request_id), answer };
  }
  if (message.type !== "user") return undefined;
  const content = isObject(message.message) ? message.message.content : undefined;
  const text = textOf(content);
  const id = typeof message.uuid === "string" ? message.uuid : undefined;
  return text === undefined ? { kind: "malformed", line } : { kind: "prompt", text, id };
}

function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    // The caller reports the line itself, which says more than the parser's words.
    return undefined;
  }
}

function textOf(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  const blocks: readonly unknown[] = content;
  return blocks.flatMap((block) => (isObject(block) && typeof block.text === "string" ? [block.text] : [])).join("\n");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
