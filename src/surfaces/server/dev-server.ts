import type { UiFile } from "./app.ts";
import { type Address, refuseForeignHost, refuseForeignPage } from "./guard.ts";
import { pageReply } from "./pages.ts";
import { commonHeaders, refuse } from "./replies.ts";

export interface DevTerms {
  readonly port: number;
  /** Where the engine serves: `http://127.0.0.1:7321`. */
  readonly api: string;
  readonly sources: {
    get(path: string): UiFile | undefined;
    onChange(listener: (problem: string | undefined) => void): () => void;
  };
}

const reloadScript = `new EventSource("/dev-reload").onmessage = ({ data }) =>
  data === "" ? location.reload() : console.error(data);\n`;

/**
 * Serves the sources of the page on this machine, and loads it anew in the browser when they change. Everything else is
 * asked of the engine, which sees its own address in `Host` and `Origin`; so both are compared here first.
 */
export function serveSources({ port, api, sources }: DevTerms) {
  const watchers = new Set<(text: string) => void>();
  const stopWatching = sources.onChange((problem) => {
    for (const tell of watchers) tell(problem ?? "");
  });
  const server = Bun.serve<{ readonly up: WebSocket; readonly early: string[] }>({
    hostname: "127.0.0.1",
    port,
    development: false,
    reusePort: false,
    idleTimeout: 0,
    fetch: async (request, http) => {
      const address: Address = { host: "127.0.0.1", port: http.port ?? port, allowedHosts: [] };
      const foreign = refuseForeignHost(request, address);
      if (foreign !== undefined) return foreign;
      const url = URL.parse(request.url);
      if (url === null) return refuse(400, "VALIDATION_ERROR", "this is no address");
      const isData = /^\/(api|ws|healthz|dev-reload)(\/|$)/.test(url.pathname);
      const foreignPage = isData ? refuseForeignPage(request, address) : undefined;
      if (foreignPage !== undefined) return foreignPage;
      if (url.pathname === "/dev-reload") return reloads(watchers);
      if (url.pathname === "/dev-reload.js")
        return new Response(reloadScript, { headers: { ...commonHeaders, "content-type": "text/javascript" } });
      if (url.pathname === "/ws") {
        const up = new WebSocket(`${api.replace("http", "ws")}/ws${url.search}`, {
          headers: asOwn(request, api),
        } as unknown as string[]);
        if (http.upgrade(request, { data: { up, early: [] } })) return undefined;
        up.close();
        return refuse(400, "NO_SOCKET", "ask for a WebSocket here");
      }
      if (isData) return forward(request, api + url.pathname + url.search, api);
      return withReload(await pageReply({ get: async (path) => sources.get(path) }, request, url.pathname));
    },
    websocket: {
      open: (socket) => {
        const { up, early } = socket.data;
        up.onopen = () => {
          for (const text of early.splice(0)) up.send(text);
        };
        up.onmessage = ({ data }) => void socket.send(String(data));
        up.onclose = ({ code }) => socket.close(code >= 1000 && code < 5000 && code !== 1006 ? code : 1011);
      },
      message: (socket, text) => {
        const { up, early } = socket.data;
        if (up.readyState === WebSocket.OPEN) up.send(String(text));
        else early.push(String(text));
      },
      close: (socket) => socket.data.up.close(),
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/`,
    close: async (): Promise<void> => {
      stopWatching();
      await server.stop(true);
    },
  };
}

function asOwn(request: Request, api: string): Record<string, string> {
  const kept = ["cookie", "authorization", "content-type", "x-overstory", "if-none-match", "accept"];
  const headers = Object.fromEntries(kept.flatMap((name) => [[name, request.headers.get(name) ?? ""]]));
  const origin = request.headers.get("origin") === null ? {} : { origin: api };
  return { ...Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== "")), ...origin };
}

async function forward(request: Request, to: string, api: string): Promise<Response> {
  const hasBody = request.method !== "GET" && request.method !== "HEAD";
  const body = hasBody ? { body: await request.arrayBuffer() } : {};
  const reply = await fetch(to, { method: request.method, headers: asOwn(request, api), redirect: "manual", ...body });
  const headers = new Headers(reply.headers);
  // What was compressed has been read here.
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) headers.delete(name);
  return new Response(reply.status === 304 ? null : await reply.arrayBuffer(), { status: reply.status, headers });
}

/** The page with the script that loads it anew; its policy allows scripts of its own address. */
async function withReload(reply: Response): Promise<Response> {
  if (reply.headers.get("content-type")?.startsWith("text/html") !== true) return reply;
  const text = (await reply.text()).replace("</head>", '<script src="/dev-reload.js"></script></head>');
  return new Response(text, { status: reply.status, headers: reply.headers });
}

function reloads(watchers: Set<(text: string) => void>): Response {
  const encoder = new TextEncoder();
  let tell: ((text: string) => void) | undefined;
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(encoder.encode(": follows\n\n"));
      tell = (text) => controller.enqueue(encoder.encode(`data: ${text.replaceAll("\n", " ")}\n\n`));
      watchers.add(tell);
    },
    cancel: () => {
      if (tell !== undefined) watchers.delete(tell);
    },
  });
  return new Response(stream, {
    headers: { ...commonHeaders, "content-type": "text/event-stream", "cache-control": "no-store" },
  });
}
