import { expect, test } from "bun:test";
import { makeProject } from "../../testkit/project.ts";
import { connect, freePort, logIn, serveWeb } from "../../testkit/web.ts";

const json = { "content-type": "application/json" };
const changed = { ...json, "x-overstory": "1" };

test("nothing but a browser or program that logged in, from this page and by our own name, gets anything", async () => {
  await using project = await makeProject({});
  const web = await serveWeb(project);
  const { url, cookie, pageKey } = web;
  const own = { cookie, origin: url, "x-overstory": pageKey };
  const { port } = new URL(url);
  const task = JSON.stringify({ title: "made by a test" });
  const viewer = String((await project.json("serve", "login", "--token", "--role", "viewer")).token);
  const operator = String((await project.json("serve", "login", "--token")).token);
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const matrix: readonly (readonly [string, string, Record<string, string>, number])[] = [
    // Names: a foreign site that has its name lead here is refused at every address.
    ["GET", "/", { host: "evil.example" }, 421],
    ["GET", "/healthz", { host: "evil.example" }, 421],
    ["GET", "/api/me", { ...own, host: "rebound.example:80" }, 421],
    ["GET", "/ws", { ...own, host: "rebound.example", upgrade: "websocket" }, 421],
    ["GET", "/", { host: `localhost:${port}` }, 200],
    // Nor does it answer for another port: that is another server's address.
    ["GET", "/", { host: "localhost:1" }, 421],
    ["GET", "/api/me", { ...own, host: "127.0.0.1:1" }, 421],
    ["GET", "/", { host: "localhost" }, 421],
    ["GET", "/", { host: `localhost:${port}:1` }, 421],
    // Logins.
    ["GET", "/api/me", {}, 401],
    ["GET", "/api/me", bearer("made-up"), 401],
    ["GET", "/api/me", { cookie: "ov-session-1=x", "x-overstory": pageKey }, 401],
    ["GET", "/api/me", { cookie: `ov-session-${new URL(url).port}=`, "x-overstory": pageKey }, 401],
    // A browser sends the cookie to every port of this machine, so a server there has it. It has not the page's half.
    ["GET", "/api/me", { cookie }, 401],
    // Nor can that server keep the page out with a cookie of the same name.
    ["GET", "/api/me", { cookie: `ov-session-${new URL(url).port}=theirs; ${cookie}`, "x-overstory": pageKey }, 200],
    ["GET", "/api/me", { cookie, "x-overstory": "1" }, 401],
    ["GET", "/api/me", { cookie, "x-overstory": "0".repeat(64) }, 401],
    ["GET", "/api/me", { "x-overstory": pageKey }, 401],
    ["GET", "/api/me", bearer(pageKey), 401],
    ["GET", "/api/me", own, 200],
    ["GET", "/api/me", bearer(viewer), 200],
    ["GET", "/api/openapi.json", {}, 401],
    // Pages of other sites.
    ["GET", "/api/agents", { ...own, origin: "http://evil.example" }, 403],
    ["GET", "/api/agents", { ...own, "sec-fetch-site": "cross-site" }, 403],
    ["GET", "/api/agents", { ...own, "sec-fetch-site": "same-site" }, 403],
    ["POST", "/api/tasks", { ...own, ...json, origin: "http://evil.example" }, 403],
    ["POST", "/api/tasks", { ...own, ...json, origin: "null" }, 403],
    ["POST", "/api/tasks", { cookie, ...json, "x-overstory": pageKey }, 403],
    ["POST", "/api/tasks", { ...own, ...json, origin: "http://127.0.0.1:1" }, 403],
    // Forms.
    ["POST", "/api/tasks", { ...own, "content-type": "text/plain" }, 415],
    ["POST", "/api/tasks", { ...own, "content-type": "application/x-www-form-urlencoded" }, 415],
    ["POST", "/api/tasks", { ...own, "content-type": "multipart/form-data" }, 415],
    ["POST", "/api/tasks", { cookie, origin: url, ...json }, 403],
    ["POST", "/api/tasks", { ...own }, 415],
    ["POST", "/api/login", { "content-type": "text/plain", origin: url }, 415],
    // Roles.
    ["POST", "/api/tasks", { ...bearer(viewer), ...changed }, 403],
    ["POST", "/api/tasks", { ...bearer(operator), ...changed }, 200],
    ["POST", "/api/tasks", { ...own, ...json }, 200],
    // Methods and addresses.
    ["DELETE", "/api/tasks", { ...own, ...json }, 405],
    ["GET", "/api/login", own, 405],
    ["POST", "/api/me", { ...own, ...json }, 405],
    ["GET", "/api/nothing", own, 404],
    ["GET", "/api/agents/%E0%A4%A", own, 404],
    ["POST", "/", { ...own, ...json }, 405],
    ["GET", "/missing.js", {}, 404],
    ["GET", "/..%2f..%2f..%2fetc%2fpasswd.txt", {}, 404],
    ["GET", "/%2e%2e/%2e%2e/package.json", {}, 404],
    ["GET", "/assets/..%5c..%5cpackage.json", {}, 404],
    ["GET", "/assets/%252e%252e/package.json", {}, 404],
    ["GET", "/index.html%00.js", {}, 404],
    ["GET", "/api/agents/..%2f..%2fetc%2fpasswd", own, 404],
    ["GET", "/assets/nothing", {}, 404],
    ["GET", "/api", own, 404],
  ];
  const seen = [];
  for (const [method, path, headers] of matrix) {
    const body = method === "POST" ? { body: task } : {};
    const reply = await fetch(url + path, { method, headers, ...body });
    seen.push([method, path, headers, reply.status]);
    expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
    expect(reply.headers.get("access-control-allow-origin")).toBe(null);
    if (reply.status >= 400) expect(await reply.json()).toMatchObject({ error: { code: expect.any(String) } });
  }
  expect(seen).toEqual(matrix.map((row) => [...row]));
  const nowhere = await fetch(`${url}/nowhere`);
  expect([nowhere.status, nowhere.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  const page = await fetch(url);
  expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(page.headers.get("cache-control")).toBe("no-store");
  const audit = await project.read((tx) => tx.audit.list(20));
  const tasks = audit
    .filter(({ action }) => action === "POST /api/tasks")
    .map(({ caller, refused }) => [caller, refused]);
  // Newest first: what a viewer asked for in vain is on record too, and nothing of those that showed no key.
  expect(tasks).toEqual([
    ["operator", false],
    ["operator", false],
    ["viewer", true],
  ]);
}, 60_000);

test("a socket needs a login and the Origin of the page, whatever cookie the browser sends along", async () => {
  await using project = await makeProject({});
  const { url, cookie, pageKey } = await serveWeb(project);
  const key = `?key=${pageKey}`;
  const refused: readonly (readonly [Record<string, string>, string])[] = [
    [{}, key],
    [{ cookie }, key],
    [{ cookie, origin: url }, ""],
    [{ cookie, origin: url }, "?key=1"],
    [{ cookie, origin: "http://evil.example" }, key],
    [{ origin: url }, key],
    [{ cookie, origin: url, host: "rebound.example" }, key],
  ];
  for (const [headers, query] of refused) await expect(connect(url, headers, query)).rejects.toThrow("refused");
  (await connect(url, { cookie, origin: url }, key)).close();
  const token = String((await project.json("serve", "login", "--token", "--role", "viewer")).token);
  const live = await connect(url, { authorization: `Bearer ${token}` });
  expect(await live.until(({ op }) => op === "hello")).toMatchObject({ user: "viewer" });
  live.close();
});

test("sessions end by logout and by time, and a code is worth nothing after its minutes", async () => {
  await using project = await makeProject({});
  const web = await serveWeb(project);
  const late = String((await project.json("serve", "login")).url);
  expect((await web.send("POST", "/api/logout", {})).status).toBe(200);
  expect((await web.get("/api/me")).status).toBe(401);
  const minutes = { OVERSTORY_TEST_CLOCK_OFFSET_MS: String(11 * 60_000) };
  await project.ov("engine", "stop");
  await project.ovWith({ env: minutes }, "engine", "start");
  await project.until("it serves again", async () =>
    fetch(`${web.url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  await expect(logIn(late)).rejects.toThrow("401");
}, 60_000);

test("serve.port and serve.host are where it listens, and serve.allowedHosts are further names of it", async () => {
  const port = await freePort();
  const config = `serve:\n  port: ${port}\n  host: 127.0.0.2\n  allowedHosts: [box.example, 'localhost:9000']\n`;
  await using project = await makeProject({ config });
  const served = await project.json("serve", "--detach");
  expect(served).toMatchObject({ port, hostname: "127.0.0.2" });
  const url = String(served.url);
  expect((await fetch(url, { headers: { host: "box.example" } })).status).toBe(200);
  expect((await fetch(url, { headers: { host: "box.example:8443" } })).status).toBe(200);
  expect((await fetch(url, { headers: { host: "localhost:9000" } })).status).toBe(200);
  expect((await fetch(url, { headers: { host: "localhost:9001" } })).status).toBe(421);
  expect((await fetch(url, { headers: { host: "other.example" } })).status).toBe(421);
  // A proxy of the operator speaks TLS to the browser under an allowed name; no other name is believed that.
  const logIn = (host: string, origin: string) =>
    fetch(`${url}api/login`, { method: "POST", headers: { ...changed, host, origin }, body: '{"code":"x"}' });
  expect((await logIn("box.example", "https://box.example")).status).toBe(401);
  expect((await logIn("box.example", "https://evil.example")).status).toBe(403);
  expect((await logIn(`127.0.0.2:${port}`, `https://127.0.0.2:${port}`)).status).toBe(403);
});

test("a taken port gives way to the next one, unless only that one will do", async () => {
  await using project = await makeProject({});
  const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const port = String(other.port);
  const strict = await project.ov("serve", "--detach", "--port", port, "--strict-port");
  expect([strict.code, strict.err.includes(port)]).toEqual([6, true]);
  expect(
    (await project.json("serve", "--detach", "--port", port, "--host", "127.0.0.1", "--open")).port,
  ).toBeGreaterThan(Number(port));
  await other.stop(true);
});

test("no other program of the same user listens at its port beside it, nor does it listen beside one", async () => {
  await using project = await makeProject({});
  const port = await freePort();
  const besides = () =>
    Bun.serve({ port, hostname: "127.0.0.1", reusePort: true, fetch: () => new Response("not the page") });
  await project.json("serve", "--detach", "--port", String(port), "--strict-port");
  expect(besides).toThrow("in use");
  await project.json("serve", "stop");
  const first = besides();
  expect((await project.ov("serve", "--detach", "--port", String(port), "--strict-port")).code).toBe(6);
  await first.stop(true);
});
