import { openUiFiles } from "../../src/host/ui-files.ts";
import { nonceMark } from "../../src/ports/ui-files.ts";
import { coordinatorReplies } from "./fixtures/coordinator.ts";
import { costReplies } from "./fixtures/costs.ts";
import { healthReplies } from "./fixtures/health.ts";
import { mailReplies } from "./fixtures/mail.ts";
import { mergeReply } from "./fixtures/merge.ts";
import { overviewReplies } from "./fixtures/overview.ts";
import { reviewReplies } from "./fixtures/reviews.ts";
import { runReplies } from "./fixtures/runs.ts";
import { settingsReplies } from "./fixtures/settings.ts";
import { tasks } from "./fixtures/tasks.ts";

/** What the search finds, whatever the words are. */
const found = [
  { kind: "branch", id: "31", title: "overstory/builder-2/auth.1", status: "awaiting_approval", at: null },
  { kind: "message", id: "m1", title: "Keep v1 cookies?", status: "question", at: null },
];

/** Serves the page over made-up facts, until `ov serve` does it over true ones. */
const replies: Readonly<Record<string, unknown>> = {
  ...overviewReplies,
  ...mailReplies,
  ...coordinatorReplies,
  ...reviewReplies,
  ...costReplies,
  ...runReplies,
  ...healthReplies,
  ...settingsReplies,
  "/api/tasks": { items: tasks },
  "/api/search": { items: found },
  "/api/me": { user: "operator", project: "shop", epoch: "1", version: "0.1.0" },
};
const topics: Record<string, string> = {
  reviews: "/api/reviews",
  fleet: "/api/agents",
  overview: "/api/overview",
  attention: "/api/attention",
};

export interface Fixture {
  readonly url: string;
  /** Sends changed items to the clients of a topic. */
  tell(topic: string, items: readonly object[]): void;
  drop(): void;
  stop(): void;
}

export async function startFixture(given: Readonly<Record<string, unknown>> = {}): Promise<Fixture> {
  const files = await openUiFiles();
  const clients = new Set<{ send: (text: string) => void; close: () => void; data: { subs: Map<string, string> } }>();
  let seq = 1;
  const server = Bun.serve<{ subs: Map<string, string> }>({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, self) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/ws")
        return self.upgrade(request, { data: { subs: new Map() } }) ? undefined : new Response(null, { status: 400 });
      if (pathname.startsWith("/api/")) {
        const reply = given[pathname] ?? mergeReply(decodeURIComponent(pathname)) ?? replies[pathname];
        if (request.method !== "GET")
          return Response.json(
            { error: { code: "ended", message: "it ended 2 s ago", hint: "Open the agent." } },
            { status: 409 },
          );
        return reply === undefined
          ? Response.json({ error: { code: "not_found", message: "no such route" } }, { status: 404 })
          : Response.json(reply);
      }
      const file = files.get(pathname) ?? (/\.\w+$/.test(pathname) ? undefined : files.get("/index.html"));
      if (file === undefined) return new Response(null, { status: 404 });
      const nonce = crypto.randomUUID();
      const body = file.type.startsWith("text/html")
        ? new TextDecoder().decode(file.bytes).replaceAll(nonceMark, nonce)
        : file.bytes;
      const policy = `default-src 'self'; style-src 'self' 'nonce-${nonce}'; frame-ancestors 'none'`;
      return new Response(body as Uint8Array<ArrayBuffer> | string, {
        headers: { "Content-Type": file.type, "Content-Security-Policy": policy },
      });
    },
    websocket: {
      open: (socket) => {
        clients.add(socket);
        socket.send(JSON.stringify({ v: 2, op: "hello", server: "fixture", epoch: "1", user: "operator" }));
      },
      message: (socket, text) => {
        const { op, id, topic } = JSON.parse(String(text));
        if (op === "sub") {
          socket.data.subs.set(topic, id);
          socket.send(JSON.stringify({ v: 2, op: "snapshot", id, seq, data: replies[topics[topic] ?? ""] }));
        }
        if (op === "ping") socket.send(JSON.stringify({ v: 2, op: "pong" }));
      },
      close: (socket) => void clients.delete(socket),
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    tell: (topic, items) => {
      seq++;
      for (const client of clients)
        client.send(JSON.stringify({ v: 2, op: "delta", id: client.data.subs.get(topic), seq, items }));
    },
    drop: () => {
      for (const client of clients) client.close();
    },
    stop: () => void server.stop(true),
  };
}
