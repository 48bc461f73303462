import { expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { connect as connectTcp, type Socket } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { roles, toolsOf } from "../../src/domain/role/roles.ts";
import { slingNew } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";
import { serveWeb } from "../../testkit/web.ts";
import { notedToken, noteToken, use } from "./mcp.world.ts";

const listening = "  mcpHttp: true\n";

/** The address the engine wrote down. */
async function addressOf(project: TestProject): Promise<string> {
  const file = statePath(project.root, "run/mcp.json");
  await project.until("the engine listened", async () => existsSync(file));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  return JSON.parse(readFileSync(file, "utf8")).url;
}

const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

const post = (url: string, headers: Record<string, string>): Promise<Response> =>
  fetch(url, { method: "POST", body: ping, headers: { "content-type": "application/json", ...headers } });

test("the engine serves the same tools over HTTP to whoever brings an agent's token", async () => {
  await using project = await makeProject({ scenario: noteToken, config: listening });
  await slingNew(project, "B1");
  const token = await notedToken(project);
  const url = await addressOf(project);
  const { hostname, port } = new URL(url);
  const beside = () => Bun.serve({ hostname, port, reusePort: true, fetch: () => new Response() });
  expect(beside).toThrow("in use");
  const client = new Client({ name: "test", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([...toolsOf(roles.builder, { expertise: false })]);
  await project.json("mail", "send", "--to", "b1", "--subject", "hello", "--body", "there", "--no-wake");
  expect((await use(client, "inbox")).text).toContain("| there");
  await project.until("the mail counted as handed over", async () => {
    const handed = await project.read((tx) => tx.deliveries.inState("b1", ["delivered"]));
    return handed.length > 0;
  });
  expect((await use(client, "send", { to: "operator", type: "status", subject: "s", body: "b" })).isError).toBe(false);
  // With somebody to tell about progress, the answer comes as the last of a stream of events.
  const shown = await client.callTool({ name: "task_show" }, undefined, { onprogress: () => {} });
  expect(shown).toMatchObject({ structuredContent: { task: { id: "B1" } } });
  await client.close();
  const programs = [
    ["claude-code/2.1.325 (cli)", false],
    ["another/1.0", true],
  ] as const;
  for (const [program, wantsData] of programs) {
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "task_show", arguments: {} } };
    const accept = "application/json, text/event-stream";
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept,
      "user-agent": program,
    };
    const answer = await (await fetch(url, { method: "POST", body: JSON.stringify(call), headers })).text();
    expect(answer).toContain('"content"');
    expect(answer.includes("structuredContent")).toBe(wantsData);
  }

  const bearer = (value: string) => ({ authorization: value });
  const matrix: readonly (readonly [Record<string, string>, number])[] = [
    [{}, 401],
    [bearer("Bearer made-up"), 401],
    [bearer("Bearer  "), 401],
    [bearer(`Basic ${token}`), 401],
    [bearer(`Bearer ${token}`), 200],
    [{ ...bearer(`Bearer ${token}`), host: "evil.example" }, 403],
    [{ ...bearer(`Bearer ${token}`), host: "localhost" }, 200],
    [{ ...bearer(`Bearer ${token}`), origin: "http://evil.example" }, 403],
    [{ ...bearer(`Bearer ${token}`), origin: "null" }, 403],
    [{ ...bearer(`Bearer ${token}`), origin: new URL(url).origin }, 200],
    [{ ...bearer(`Bearer ${token}`), "content-type": "text/plain" }, 415],
    [{ ...bearer(`Bearer ${token}`), "mcp-protocol-version": "1999-01-01" }, 400],
  ];
  const seen = [];
  for (const [headers] of matrix) seen.push((await post(url, headers)).status);
  expect(seen).toEqual(matrix.map(([, status]) => status));
  expect((await fetch(url, { headers: bearer(`Bearer ${token}`) })).status).toBe(405);
  expect((await fetch(new URL("/", url), { headers: bearer(`Bearer ${token}`) })).status).toBe(404);
  const audited = await project.read((tx) => tx.audit.list(20));
  expect(audited.map(({ caller, action }) => [caller, action])).toEqual(
    [1, 2, 3, 4].map(() => ["unknown token", "identity.self"]),
  );

  await project.json("stop", "b1");
  expect((await post(url, bearer(`Bearer ${token}`)).catch(() => ({ status: 401 }))).status).toBe(401);
});

test("a connection that shows no token is not kept for ever, at a port of its own and at that of the page", async () => {
  await using project = await makeProject({ scenario: noteToken, config: listening });
  // The engine stays for this agent.
  await slingNew(project, "B1");
  const open = new Set<Socket>();
  const hoard = (address: string): void => {
    const { port, host } = new URL(address);
    for (let at = 0; at < 5; at++) {
      const socket = connectTcp(Number(port), "127.0.0.1");
      open.add(socket);
      socket.on("data", () => {});
      socket.on("error", () => {});
      socket.on("close", () => open.delete(socket));
      socket.write(
        `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{`,
      );
    }
  };
  hoard(await addressOf(project));
  await project.until("the engine closed them", async () => open.size === 0, 30_000);
  hoard((await serveWeb(project)).url);
  await project.until("the server of the page closed them", async () => open.size === 0, 30_000);
}, 80_000);

test("without being asked to, the engine does not listen", async () => {
  await using project = await makeProject({ scenario: noteToken });
  await slingNew(project, "B1");
  await notedToken(project);
  expect(existsSync(statePath(project.root, "run/mcp.json"))).toBe(false);
});
