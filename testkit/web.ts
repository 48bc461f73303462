import type { TestProject } from "./project.ts";

/** A browser that has logged in, as far as requests go. */
export interface WebClient {
  readonly url: string;
  readonly cookie: string;
  /** The half of the session that the page keeps. */
  readonly pageKey: string;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Opens the socket and collects its frames. */
  live(query?: string): Promise<LiveClient>;
}

export interface LiveClient {
  readonly frames: Record<string, unknown>[];
  send(frame: object): void;
  /** The first frame that fits, waited for. */
  until(fits: (frame: Record<string, unknown>) => boolean, timeoutMs?: number): Promise<Record<string, unknown>>;
  close(): void;
  isClosed(): boolean;
}

/** Has the engine serve the page at a free port, and logs in. */
export async function serveWeb(project: TestProject, ...flags: string[]): Promise<WebClient> {
  const served = await project.json("serve", "--detach", "--port", String(await freePort()), ...flags);
  return logIn(String(served.loginUrl));
}

export async function logIn(loginUrl: string): Promise<WebClient> {
  const [url = "", code = ""] = loginUrl.split("#code=");
  const origin = new URL(url).origin;
  const headers = { "content-type": "application/json", "x-overstory": "1", origin };
  const reply = await fetch(`${origin}/api/login`, { method: "POST", headers, body: JSON.stringify({ code }) });
  if (reply.status !== 200) throw new Error(`login: ${reply.status} ${await reply.text()}`);
  const cookie = (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const { pageKey } = (await reply.json()) as { readonly pageKey: string };
  const own = { ...headers, cookie, "x-overstory": pageKey };
  return {
    url: origin,
    cookie,
    pageKey,
    get: (path, more = {}) => fetch(origin + path, { headers: { cookie, "x-overstory": pageKey, ...more } }),
    send: (method, path, body, more = {}) =>
      fetch(origin + path, {
        method,
        headers: { ...own, ...more },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    live: (query = "") => connect(origin, { cookie, origin }, `?key=${pageKey}${query}`),
  };
}

export async function connect(origin: string, headers: Record<string, string>, query = ""): Promise<LiveClient> {
  const frames: Record<string, unknown>[] = [];
  // Bun's own client takes headers; a browser would send them by itself.
  const socket = new WebSocket(`${origin.replace("http", "ws")}/ws${query}`, { headers } as unknown as string[]);
  socket.onmessage = ({ data }) => frames.push(JSON.parse(String(data)));
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("the socket was refused"));
  });
  return {
    frames,
    send: (frame) => socket.send(JSON.stringify(frame)),
    until: async (fits, timeoutMs = 10_000) => {
      for (const over = performance.now() + timeoutMs; performance.now() < over; await Bun.sleep(5)) {
        const found = frames.find(fits);
        if (found !== undefined) return found;
      }
      throw new Error(`no such frame among ${JSON.stringify(frames).slice(0, 2_000)}`);
    },
    close: () => socket.close(),
    isClosed: () => socket.readyState === WebSocket.CLOSED,
  };
}

/** A port that nothing listens at in this moment. */
export async function freePort(): Promise<number> {
  const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = probe;
  await probe.stop(true);
  return port ?? 0;
}
