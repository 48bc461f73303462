import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Description } from "../shared/description.ts";
import { describeRefusal } from "../shared/refusals.ts";
import { errorCodes, failed, type Incoming, type Outgoing, parseMessage, type RequestId } from "./protocol.ts";
import { type McpServer, makeServer } from "./server.ts";
import type { McpApp } from "./tool-call.ts";

export interface StdioPeer {
  /** What the client writes, in pieces of any size. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Writes one whole line at once. `reader-gone`: the reader has closed the pipe. */
  write(line: string): "written" | "reader-gone";
}

/**
 * Serves the tools of the agent whose token this process has, until the client leaves. A caller that is no agent is
 * refused, and its client is told so.
 */
export async function serveAgent(
  app: McpApp,
  { isPerson, ...peer }: StdioPeer & { readonly isPerson: boolean },
): Promise<Result<null, Refusal>> {
  const self = await app.call("identity.self", {});
  if (self.ok) {
    await serveStdio(makeServer(app, self.value), peer);
    return ok(null);
  }
  // A person at a terminal sends no requests and reads the refusal instead.
  if (!isPerson)
    await serveStdio(refusingServer(describeRefusal(self.refusal)), { ...peer, input: firstRequest(peer.input) });
  return no(self.refusal);
}

/** Enough to answer the first request: a client that is refused has nothing more to ask. */
async function* firstRequest(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) {
    yield chunk;
    if (chunk.includes(10)) return;
  }
}

/** A line longer than this is no message that a model wrote; reading on would only fill the memory. */
const longestLine = 16 * 1024 * 1024;

/**
 * Serves one client over a pair of streams, one message per line, until it closes its end. Requests run side by side, so
 * that a ping is answered while a long call lasts. What still runs when the client leaves is ended.
 */
export async function serveStdio(server: McpServer, { input, write }: StdioPeer): Promise<void> {
  const running = new Map<RequestId, AbortController>();
  const work = new Set<Promise<void>>();
  let gone = false;
  const send = (message: Outgoing): boolean => {
    gone ||= write(`${JSON.stringify(message)}\n`) === "reader-gone";
    return !gone;
  };
  const answer = async (incoming: Incoming): Promise<void> => {
    const control = new AbortController();
    if (incoming.kind === "request") running.set(incoming.id, control);
    const exchange = { signal: control.signal, notify: (message: Outgoing) => void send(message) };
    const reply = await server.reply(incoming, exchange);
    if (incoming.kind === "request" && running.get(incoming.id) === control) running.delete(incoming.id);
    // A client that took its request back must not get an answer to it.
    if (reply === undefined || control.signal.aborted) return;
    if (send(reply.message)) await reply.afterSent?.();
  };
  for await (const line of linesOf(input)) {
    const incoming = parseMessage(line);
    if (incoming.kind === "notification" && incoming.method === "notifications/cancelled") {
      const { requestId } = incoming.params;
      if (typeof requestId === "string" || typeof requestId === "number") running.get(requestId)?.abort();
      continue;
    }
    const task = answer(incoming).finally(() => work.delete(task));
    work.add(task);
    if (gone) break;
  }
  for (const control of running.values()) control.abort();
  await Promise.all(work);
}

/** Whole lines, however they were cut on the way; blank ones are no messages. */
async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // The pieces of a line are joined once, when it is whole: a long line comes in many.
  let pieces: string[] = [];
  let length = 0;
  for await (const chunk of input) {
    for (const [at, part] of decoder.decode(chunk, { stream: true }).split("\n").entries()) {
      if (at > 0) {
        const line = pieces.join("");
        [pieces, length] = [[], 0];
        if (line.trim() !== "") yield line;
      }
      pieces.push(part);
      length += part.length;
      if (length > longestLine) throw new Error(`a message of more than ${longestLine} characters`);
    }
  }
  const rest = pieces.join("");
  if (rest.trim() !== "") yield rest;
}

/** Serves a caller without an identity: every request gets the reason, so that a client can show more than a closed connection. */
const refusingServer = ({ message, hint, code }: Description): McpServer => ({
  reply: async (incoming) => {
    if (incoming.kind !== "request") return undefined;
    const words = hint === undefined ? message : `${message}; ${hint}`;
    return { message: failed(incoming.id, { code: errorCodes.refused, message: words, data: { code } }) };
  },
});
