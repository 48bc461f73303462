import { expect, test } from "bun:test";
import { connect as connectTcp, type Socket } from "node:net";
import { mostSockets } from "../../src/surfaces/server/listener.ts";
import { makeProject } from "../../testkit/project.ts";
import { connect, type LiveClient, serveWeb } from "../../testkit/web.ts";

test("large bodies and wrong bodies are refused, also where their length is not said before, and the server goes on", async () => {
  await using project = await makeProject({});
  const web = await serveWeb(project);
  const large = JSON.stringify({ title: "x".repeat(1024 * 1024 + 10) });
  expect((await web.send("POST", "/api/tasks", large)).status).toBe(413);
  const stream = new ReadableStream({
    start: (controller) => {
      for (let at = 0; at < 20; at++) controller.enqueue(new TextEncoder().encode("x".repeat(100_000)));
      controller.close();
    },
  });
  const headers = {
    "content-type": "application/json",
    "x-overstory": web.pageKey,
    cookie: web.cookie,
    origin: web.url,
  };
  expect((await fetch(`${web.url}/api/tasks`, { method: "POST", body: stream, headers })).status).toBe(413);
  const wrong = ["{", "[]", "null", "7", '{"title":7}', '{"title":"a","other":1}', `${"[".repeat(5_000)}`];
  const tricks = ['{"__proto__":{"title":"a"}}', '{"title":"a","constructor":{}}', '{"title":"a\\u0000b"}'];
  for (const body of [...wrong, ...tricks])
    expect([body.slice(0, 30), (await web.send("POST", "/api/tasks", body)).status]).toEqual([body.slice(0, 30), 400]);
  // Bytes that are no UTF-8 would become other words than were sent.
  const bytes = Buffer.from('{"title":"a\u00ff"}', "latin1");
  const broken = await fetch(`${web.url}/api/tasks`, { method: "POST", body: bytes, headers });
  expect(broken.status).toBe(400);
  expect((await project.json("task", "list")).tasks).toEqual([]);
  expect((await web.get("/healthz")).status).toBe(200);
}, 60_000);

/** A connection that says something, and what came back until it was closed or the time was up. */
function raw(port: number, first: string, { drip, forMs }: { readonly drip?: string; readonly forMs: number }) {
  return new Promise<{ readonly isClosed: boolean; readonly text: string; readonly ms: number }>((resolve) => {
    const began = performance.now();
    const socket = connectTcp(port, "127.0.0.1");
    let text = "";
    const timer = drip === undefined ? undefined : setInterval(() => socket.write(drip), 1_000);
    const end = (isClosed: boolean): void => {
      clearInterval(timer);
      clearTimeout(over);
      socket.destroy();
      resolve({ isClosed, text, ms: performance.now() - began });
    };
    const over = setTimeout(() => end(false), forMs);
    socket.on("data", (data) => {
      text += String(data);
    });
    socket.on("error", () => {});
    socket.on("close", () => end(true));
    socket.write(first);
  });
}

test("headers that come drop by drop are not waited for, nor is a body", async () => {
  await using project = await makeProject({});
  const { url } = await serveWeb(project);
  const port = Number(new URL(url).port);
  const host = `Host: 127.0.0.1:${port}\r\n`;
  const login = `POST /api/login HTTP/1.1\r\n${host}Content-Type: application/json\r\nX-Overstory: 1\r\n`;
  const [slowBody, ...slowHeaders] = await Promise.all([
    raw(port, `${login}Content-Length: 500\r\n\r\n`, { drip: "x", forMs: 20_000 }),
    raw(port, "", { forMs: 30_000 }),
    raw(port, "GET /healthz HTTP/1.1\r\nHost: 127", { drip: "0", forMs: 30_000 }),
    raw(port, `GET /healthz HTTP/1.1\r\n${host}`, { drip: "X-More: 1\r\n", forMs: 30_000 }),
  ]);
  expect(slowHeaders.map(({ isClosed }) => isClosed)).toEqual([true, true, true]);
  expect(slowBody.text).toContain(" 408 ");
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
}, 60_000);

test("requests that are none, or that two readers would read differently, are refused before anything is done", async () => {
  await using project = await makeProject({});
  const { url } = await serveWeb(project);
  const port = Number(new URL(url).port);
  const ask = async (text: string) => (await raw(port, text, { forMs: 1_500 })).text.split("\r\n")[0] ?? "";
  const two = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX";
  expect(await ask(`POST /api/login HTTP/1.1\r\nHost: 127.0.0.1\r\n${two}`)).toContain(" 400 ");
  expect(await ask("GET / HTTP/1.1\r\n\r\n")).toContain(" 400 ");
  // Two names, or one that is none: the first of them must not decide alone.
  expect(await ask("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n")).toContain(" 421 ");
  expect(await ask("GET / HTTP/1.1\r\nHost: evil.example\r\nHost: 127.0.0.1\r\n\r\n")).toContain(" 421 ");
  expect(await ask("GET / HTTP/1.1\r\nHost: a b:c/d\r\n\r\n")).toContain(" 421 ");
  expect(await ask("GET / HTTP/1.0\r\n\r\n")).toContain(" 421 ");
  expect(await ask(`GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${"a".repeat(100_000)}\r\n\r\n`)).toContain(" 431 ");
  expect(await ask("GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n")).toContain(" 421 ");
}, 60_000);

test("many idle connections keep nobody out, and are closed", async () => {
  await using project = await makeProject({});
  const web = await serveWeb(project);
  const port = Number(new URL(web.url).port);
  const open = new Set<Socket>();
  for (let at = 0; at < 1_500; at++) {
    const socket = connectTcp(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
    open.add(socket);
    if (at % 100 === 0) await Bun.sleep(5);
  }
  expect((await web.get("/api/me")).status).toBe(200);
  await project.until("all of them were closed", async () => open.size === 0, 40_000);
}, 60_000);

test("there are only so many sockets, topics and frames for one, and the next ones are refused", async () => {
  await using project = await makeProject({});
  const web = await serveWeb(project);
  const token = String((await project.json("serve", "login", "--token")).token);
  const headers = { authorization: `Bearer ${token}` };
  const clients: LiveClient[] = [];
  for (let at = 0; at < mostSockets; at++) clients.push(await connect(web.url, headers));
  await expect(connect(web.url, headers)).rejects.toThrow("refused");
  for (const client of clients.splice(1)) client.close();
  const [client] = clients as [LiveClient];
  for (let at = 0; at < 70; at++) client.send({ op: "sub", id: `t${at}`, topic: `events` });
  await client.until(({ op, code }) => op === "error" && code === "TOO_MANY_TOPICS");
  for (const topic of ["toString", "__proto__", "constructor:x", "op:none", "agent:nobody", "fleet?all=7"])
    client.send({ op: "sub", id: "t1", topic });
  await client.until(({ op, code }) => op === "error" && code === "NOT_FOUND");
  for (let at = 0; at < 1_000; at++) client.send({ op: "ping" });
  await client.until(() => client.isClosed());
  expect((await web.get("/api/me")).status).toBe(200);
}, 60_000);

test("a session changes only so much at once", async () => {
  await using project = await makeProject({});
  const web = await serveWeb(project);
  const replies = await Promise.all(
    Array.from({ length: 180 }, () => web.send("POST", "/api/attention/none/seen", {}).then(({ status }) => status)),
  );
  expect(replies.filter((status) => status === 429).length).toBeGreaterThan(10);
  expect(replies.filter((status) => status === 404).length).toBeGreaterThan(100);
}, 60_000);
