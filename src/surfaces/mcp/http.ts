import type { Refusal } from "../../domain/refusal.ts";
import type { Result } from "../../domain/result.ts";
import type { Description } from "../shared/description.ts";
import { describeRefusal } from "../shared/refusals.ts";
import { errorCodes, failed, type Outgoing, parseMessage, protocolVersions } from "./protocol.ts";
import type { Exchange, McpServer, Reply } from "./server.ts";

export const mcpPath = "/mcp";

/** More than any tool takes. */
export const maxBodyBytes = 4 * 1024 * 1024;

/** Finds the tools of the agent that holds the token. `client` is the name that the other end gives itself. */
export type OpenServer = (token: string | undefined, client: string | undefined) => Promise<Result<McpServer, Refusal>>;

/**
 * Streamable HTTP without sessions: each POST carries one message and the agent's token, each answer ends its response.
 * A page in a browser cannot get here: it would have to be served from this very address, and to know a token. Calls `lasts`
 * when a holder of a token has asked for something: that may wait for gates, which take as long as they take. Until then the
 * connection is one of a stranger, and is not kept for ever.
 */
export async function answerHttp(request: Request, open: OpenServer, lasts: () => void): Promise<Response> {
  const outside = refuseOutside(request);
  if (outside !== undefined) return outside;
  if (new URL(request.url).pathname !== mcpPath) return plain(404, "nothing here");
  const token = /^Bearer (.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1]?.trim();
  const client = /^[^\s/]+/.exec(request.headers.get("user-agent") ?? "")?.[0];
  const server = await open(token, client);
  if (!server.ok) return unauthorised(describeRefusal(server.refusal));
  // The server sends nothing unasked, and has no session to end.
  if (request.method !== "POST") return plain(405, "only POST", { allow: "POST" });
  const unusable = refuseUnusable(request);
  if (unusable !== undefined) return unusable;
  const text = await request.text();
  if (text.length > maxBodyBytes) return plain(413, "too large");
  lasts();
  return exchange(request, server.value, text);
}

/** Names that lead to this machine only. Any other name in `Host` is a page that had its own name lead here. */
const localHosts = ["127.0.0.1", "localhost", "[::1]"];

function refuseOutside({ headers }: Request): Response | undefined {
  const host = headers.get("host") ?? "";
  const name = host.replace(/:\d+$/, "");
  if (!localHosts.includes(name.toLowerCase())) return plain(403, "this address serves 127.0.0.1 and localhost only");
  const origin = headers.get("origin");
  if (origin !== null && origin.toLowerCase() !== `http://${host.toLowerCase()}`) return plain(403, "not from there");
  return undefined;
}

function refuseUnusable({ headers }: Request): Response | undefined {
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") return plain(415, "send application/json");
  const version = headers.get("mcp-protocol-version");
  if (version !== null && !protocolVersions.some((known) => known === version)) {
    return plain(400, `protocol versions: ${protocolVersions.join(", ")}`);
  }
  return Number(headers.get("content-length") ?? 0) > maxBodyBytes ? plain(413, "too large") : undefined;
}

async function exchange(request: Request, server: McpServer, text: string): Promise<Response> {
  const incoming = parseMessage(text);
  const wantsEvents = incoming.kind === "request" && incoming.params._meta !== undefined && acceptsEvents(request);
  if (wantsEvents) return eventStream((notify) => server.reply(incoming, { notify, signal: request.signal }));
  const reply = await server.reply(incoming, { notify: () => {}, signal: request.signal });
  if (reply === undefined) return new Response(null, { status: 202 });
  return new Response(inPieces([JSON.stringify(reply.message)], reply.afterSent), {
    status: incoming.kind === "invalid" ? 400 : 200,
    headers: { "content-type": "application/json" },
  });
}

const acceptsEvents = ({ headers }: Request): boolean => (headers.get("accept") ?? "").includes("text/event-stream");

/** Notices while the call lasts, then its answer. What follows from the answer runs as in `inPieces`, before the end. */
function eventStream(ask: (notify: Exchange["notify"]) => Promise<Reply | undefined>): Response {
  const encoder = new TextEncoder();
  const event = (message: Outgoing): Uint8Array =>
    encoder.encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  let gone = false;
  let sent = false;
  let asked: Promise<Reply | undefined> | undefined;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        asked ??= ask((message) => {
          if (!gone) controller.enqueue(event(message));
        });
        const reply = await asked;
        if (gone) return;
        if (reply !== undefined && !sent) {
          sent = true;
          return controller.enqueue(event(reply.message));
        }
        await reply?.afterSent?.();
        controller.close();
      },
      cancel: () => {
        gone = true;
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });
}

/** `done` runs when the reader has asked for more than the last piece: then it has taken everything. */
function inPieces(pieces: readonly string[], done: (() => Promise<void>) | undefined): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const rest = [...pieces];
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const piece = rest.shift();
        if (piece !== undefined) return controller.enqueue(encoder.encode(piece));
        await done?.();
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

function unauthorised({ code, message, hint }: Description): Response {
  const words = hint === undefined ? message : `${message}; ${hint}`;
  const body = failed(null, { code: errorCodes.refused, message: words, data: { code } });
  return Response.json(body, { status: 401, headers: { "www-authenticate": 'Bearer realm="overstory"' } });
}

const plain = (status: number, text: string, headers: Record<string, string> = {}): Response =>
  new Response(`${text}\n`, { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers } });
