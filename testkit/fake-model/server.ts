import { chat } from "./chat.ts";
import { type Asked, answerFor, type Dialect, type Frame } from "./dialect.ts";
import { gemini } from "./gemini.ts";
import { messages } from "./messages.ts";
import { responses } from "./responses.ts";
import { type AnswerStep, dueIn, type FailureStep, type Turn } from "./script.ts";

const dialects: readonly Dialect[] = [messages, responses, chat, gemini];

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object | undefined;
  /** What a request for an answer asks; undefined for every other request. */
  readonly asked: (Asked & { readonly dialect: Dialect["name"] }) | undefined;
  /** The client went away before the answer was complete. */
  isAbandoned: boolean;
}

/** A model API on a free port of this machine that says what the conversation's script tells it to. */
export interface FakeModel extends AsyncDisposable {
  readonly url: string;
  /** Every request, in order. */
  readonly seen: readonly SeenRequest[];
}

export function startFakeModel(): FakeModel {
  const seen: SeenRequest[] = [];
  /** How often a failure was given, by the conversation it belongs to: the only thing remembered. */
  const given = new Map<string, number>();
  const closing = new AbortController();
  let replies = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      const body = request.method === "POST" ? ((await request.json()) as object) : undefined;
      const dialect = body === undefined ? undefined : dialects.find(({ paths }) => paths.test(pathname));
      const asked = body === undefined ? undefined : dialect?.read(body, pathname);
      const entry: SeenRequest = {
        method: request.method,
        path: pathname,
        headers: Object.fromEntries(request.headers),
        body,
        asked: dialect === undefined || asked === undefined ? undefined : { ...asked, dialect: dialect.name },
        isAbandoned: false,
      };
      seen.push(entry);
      request.signal.addEventListener("abort", () => {
        entry.isAbandoned = true;
      });
      if (dialect === undefined || asked === undefined) return besides(pathname, body);
      const ended = AbortSignal.any([request.signal, closing.signal]);
      return answer(dialect, asked, ended);
    },
  });

  async function answer(dialect: Dialect, asked: Asked, ended: AbortSignal): Promise<Response> {
    const number = ++replies;
    const headers = { "request-id": `req_${number}` };
    // A side call for a title or a summary offers no tools and must not use up a step.
    const isSide = asked.tools.length === 0;
    const failure = isSide ? undefined : nextFailure(asked.turns);
    if (failure !== undefined && "status" in failure) {
      const wait = failure.retryAfter === undefined ? {} : { "retry-after": String(failure.retryAfter) };
      const refused = dialect.refuse(failure);
      const { status } = failure;
      return Response.json(refused.body, { status, headers: { ...headers, ...wait, ...refused.headers } });
    }
    if (failure !== undefined && "hang" in failure && failure.hang === "headers") {
      await over(ended);
      return new Response("", { status: 503 });
    }
    const step = isSide ? title : failure === undefined ? (dueIn(asked.turns).answer ?? nothing) : brokenOff;
    if (step.delayMs !== undefined) await Bun.sleep(step.delayMs);
    const said = answerFor(step, asked, number);
    const chunks = asked.streamed ? dialect.frames(said).map(lineOf) : halves(JSON.stringify(dialect.whole(said)));
    const type = asked.streamed ? "text/event-stream" : "application/json";
    const stream = streamOf(chunks, { pauseMs: step.pauseMs ?? 0, failure, ended });
    return new Response(stream, { headers: { ...headers, "content-type": type } });
  }

  function nextFailure(turns: readonly Turn[]): FailureStep | undefined {
    const words = turns.map(({ text }) => text).join("\n");
    for (const [at, failure] of dueIn(turns).failures.entries()) {
      const key = `${at}:${turns.length}:${words.slice(-500)}`;
      const count = given.get(key) ?? 0;
      if (count >= (failure.times ?? 1)) continue;
      given.set(key, count + 1);
      return failure;
    }
    return undefined;
  }

  return {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await server.stop(true);
    },
  };
}

const title: AnswerStep = { text: "A title" };
const nothing: AnswerStep = { text: "Nothing more to say." };
const brokenOff: AnswerStep = { text: "These words are broken off.", pieces: 2 };

/** What clients ask beside answers: whether the server is there, its models, how long a text is. */
function besides(path: string, body: object | undefined): Response {
  if (/[/:]count_?tokens$/i.test(path)) return Response.json({ input_tokens: 100, totalTokens: 100 });
  if (/\/models$/.test(path)) return Response.json({ object: "list", data: [{ id: "fake-model", object: "model" }] });
  // Codex would like a socket here; so told, it asks in the ordinary way.
  if (body === undefined && /\/responses$/.test(path)) return new Response("", { status: 426 });
  if (body === undefined) return new Response("", { status: 200 });
  return Response.json({ type: "error", error: { type: "not_found_error", message: path } }, { status: 404 });
}

interface Chunk {
  readonly text: string;
  readonly isPart: boolean;
}

const lineOf = ({ event, data, isPart = false }: Frame): Chunk => ({
  text: `${event === undefined ? "" : `event: ${event}\n`}data: ${data === "[DONE]" ? data : JSON.stringify(data)}\n\n`,
  isPart,
});

const halves = (text: string): readonly Chunk[] => [
  { text: text.slice(0, text.length / 2), isPart: true },
  { text: text.slice(text.length / 2), isPart: false },
];

interface Delivery {
  readonly pauseMs: number;
  /** Nothing comes after the first part. */
  readonly failure: FailureStep | undefined;
  readonly ended: AbortSignal;
}

function streamOf(chunks: readonly Chunk[], { pauseMs, failure, ended }: Delivery): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start: async (stream) => {
      for (const { text, isPart } of chunks) {
        if (ended.aborted) return;
        stream.enqueue(encoder.encode(text));
        if (!isPart) continue;
        if (failure !== undefined && "cut" in failure) {
          // What was said so far must have left before the connection is cut. An error with words would be printed.
          await Bun.sleep(10);
          stream.error();
          return;
        }
        if (failure !== undefined) return await over(ended);
        if (pauseMs > 0) await Bun.sleep(pauseMs);
      }
      stream.close();
    },
  });
}

const over = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
