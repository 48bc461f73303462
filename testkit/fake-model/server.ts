import { blockFor, type MessagesRequest, paceOf, streamed, turnsOf, wholeMessage } from "./messages.ts";
import { dueStep, errorsBefore } from "./script.ts";

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: MessagesRequest | undefined;
}

/** A model API on a free port of this machine that says what the conversation's script tells it to. */
export interface FakeModel extends AsyncDisposable {
  readonly url: string;
  /** Every request, in order. */
  readonly seen: readonly SeenRequest[];
}

export function startFakeModel(): FakeModel {
  const seen: SeenRequest[] = [];
  /** How often an error was given, by the conversation it belongs to: the only thing remembered. */
  const given = new Map<string, number>();
  let replies = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      const body = request.method === "POST" ? ((await request.json()) as MessagesRequest) : undefined;
      seen.push({ method: request.method, path: pathname, headers: Object.fromEntries(request.headers), body });
      if (body === undefined) return new Response("", { status: 200 });
      if (pathname.endsWith("/count_tokens")) return Response.json({ input_tokens: 100 });
      if (!pathname.endsWith("/messages"))
        return Response.json({ type: "error", error: { type: "not_found_error", message: pathname } }, { status: 404 });
      return answer(body);
    },
  });

  function answer(body: MessagesRequest): Response {
    const id = `msg_${++replies}`;
    const headers = { "request-id": `req_${replies}` };
    // A side call for a title or a summary offers no tools and must not use up a step.
    const side = (body.tools ?? []).length === 0;
    const turns = turnsOf(body);
    const failure = side ? undefined : nextError(turns);
    if (failure !== undefined) {
      const wait = failure.retryAfter === undefined ? {} : { "retry-after": String(failure.retryAfter) };
      const type = failure.type ?? (failure.status === 429 ? "rate_limit_error" : "api_error");
      return Response.json(
        { type: "error", error: { type, message: failure.message ?? "as the script says" } },
        { status: failure.status, headers: { ...headers, ...wait } },
      );
    }
    const step = side ? { text: "A title" } : dueStep(turns);
    const said = { block: blockFor(step, body, `toolu_${replies}`), id, pace: paceOf(step) };
    if (body.stream !== true) return Response.json(wholeMessage(body, said), { headers });
    return new Response(streamed(body, said), { headers: { ...headers, "content-type": "text/event-stream" } });
  }

  function nextError(turns: ReturnType<typeof turnsOf>) {
    for (const [at, error] of errorsBefore(turns).entries()) {
      const key = `${at}:${turns.length}:${turns
        .map(({ text }) => text)
        .join("\n")
        .slice(-500)}`;
      const count = given.get(key) ?? 0;
      if (count >= (error.times ?? 1)) continue;
      given.set(key, count + 1);
      return error;
    }
    return undefined;
  }

  return {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
