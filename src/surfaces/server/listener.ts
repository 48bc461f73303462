import type { WebApp } from "./app.ts";
import type { Address, Visitor } from "./guard.ts";
import { type Client, Live } from "./live.ts";
import { refuse } from "./replies.ts";
import { makeServer, urlOf, type WebServer } from "./server.ts";

export interface ListenTerms extends Address {
  /** Another port will not do. */
  readonly strictPort: boolean;
  /**
   * Answers what is not for browsers, such as the tools of agents; undefined for everything else. It calls `lasts` when the
   * request has come as a whole, from one who may ask, and its answer may take any time.
   */
  readonly beside?: (request: Request, lasts: () => void) => Promise<Response> | undefined;
}

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

/** The largest body of anything that is answered here; see `bodyOf` for browsers. */
const largestBody = 4 * 1024 * 1024;
/** A connection that has not sent its headers by then, or that is not used for so long, is closed. */
const idleSeconds = 10;
/** A request is answered by then; work that takes longer is a long operation. */
const answerSeconds = 120;
const nextPorts = 20;
/** Requests at once. Each of them reads the store. */
const mostRequests = 200;
export const mostSockets = 200;

/** Listens until closed. Where the port is taken, takes the next free one, unless only this one will do. */
export function listen(app: WebApp, terms: ListenTerms): Listening {
  const last = terms.strictPort || terms.port === 0 ? terms.port : Math.min(terms.port + nextPorts, 65_535);
  for (let port = terms.port; ; port++) {
    try {
      return listenAt(app, { ...terms, port });
    } catch (error) {
      const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
      if (!isTaken || port >= last) throw error;
    }
  }
}

/** Requests that are being answered are waited for so long when the server ends. */
const answerMs = 1_000;
/** A change that is cut off would look failed although it was made, so its answer is waited for longer. */
const changeMs = 20_000;
const lookMs = 10;

function listenAt(app: WebApp, terms: ListenTerms): Listening {
  const epoch = crypto.randomUUID();
  const live = new Live(app, epoch);
  let web: WebServer | undefined;
  let changes = 0;
  const server = Bun.serve<{ readonly visitor: Visitor; readonly room: string | undefined; client?: Client }>({
    hostname: terms.host,
    port: terms.port,
    maxRequestBodySize: largestBody,
    idleTimeout: idleSeconds,
    // Otherwise a failure would be answered with the lines of code around it.
    development: false,
    // Without it any program of this user, an agent's too, may listen at the same port and gets every other connection.
    reusePort: false,
    fetch: async (request, http) => {
      const beside = terms.beside?.(request, () => http.timeout(request, 0));
      if (beside !== undefined) return beside;
      if (web === undefined || http.pendingRequests > mostRequests) return tooBusy();
      http.timeout(request, answerSeconds);
      const url = urlOf(request);
      if (url?.pathname !== "/ws") {
        const isChange = request.method !== "GET" && request.method !== "HEAD";
        if (!isChange) return web.answer(request);
        changes++;
        try {
          return await web.answer(request);
        } finally {
          changes--;
        }
      }
      const visitor = await web.admit(request);
      if (visitor instanceof Response) return visitor;
      if (http.pendingWebSockets >= mostSockets) return tooBusy();
      if (http.upgrade(request, { data: { visitor, room: roomOf(url.searchParams) } })) return undefined;
      return refuse(400, "NO_SOCKET", "ask for a WebSocket here");
    },
    websocket: {
      idleTimeout: 60,
      maxPayloadLength: 64 * 1024,
      backpressureLimit: 1024 * 1024,
      closeOnBackpressureLimit: false,
      open: (socket) => {
        const peer = {
          send: (text: string) => {
            const taken = socket.send(text);
            return taken > 0 ? ("sent" as const) : taken === 0 ? ("dropped" as const) : ("full" as const);
          },
          close: (code: number, reason: string) => socket.close(code, reason),
        };
        const client = live.connect(peer, socket.data.visitor);
        socket.data.client = client;
        const { room } = socket.data;
        if (room !== undefined) client.receive(JSON.stringify({ op: "sub", id: room, topic: room }));
      },
      message: (socket, text) => socket.data.client?.receive(String(text)),
      drain: (socket) => socket.data.client?.drained(),
      close: (socket) => {
        if (socket.data.client !== undefined) live.disconnect(socket.data.client);
      },
    },
  });
  const port = server.port ?? terms.port;
  web = makeServer({ app, address: { ...terms, port }, epoch, live });
  return {
    port,
    close: async () => {
      live.close();
      // The port is free at once. A change of settings that ends this server is still answered, or it would look failed.
      void server.stop();
      for (let waited = 0; server.pendingRequests > 0 && waited < (changes > 0 ? changeMs : answerMs); waited += lookMs)
        await app.clock.sleep(lookMs);
      await server.stop(true);
    },
  };
}

/** Version 0.11 named one topic in the address of the socket. */
function roomOf(query: URLSearchParams): string | undefined {
  if (query.get("mail") === "true") return "mail";
  for (const kind of ["run", "agent"]) if (query.has(kind)) return `${kind}:${query.get(kind)}`;
  return undefined;
}

const tooBusy = (): Response => refuse(503, "TOO_BUSY", "too much is asked at once; try again in a second");
