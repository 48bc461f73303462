import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readIdentity } from "../../src/host/engine-contact/keeper.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";
import { freePort, logIn } from "../../testkit/web.ts";

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}healthz`).then(
    ({ ok }) => ok,
    () => false,
  );

test("without --detach the page is served until the command ends, however it ends; with it, until ov serve stop", async () => {
  await using project = await makeProject({});
  const port = String(await freePort());
  const start = async () => {
    const child = Bun.spawn([ovBinary(), "serve", "--port", port, "--json"], {
      cwd: project.root,
      env: { ...project.env },
      stdout: "pipe",
      stderr: "ignore",
    });
    const { value } = await child.stdout.getReader().read();
    return { child, told: JSON.parse(new TextDecoder().decode(value)) };
  };
  const polite = await start();
  expect(polite.told).toMatchObject({ status: "started", port: Number(port), hostname: "127.0.0.1" });
  expect(await project.json("serve", "status")).toMatchObject({ serving: true, detached: false });
  polite.child.kill("SIGINT");
  expect(await polite.child.exited).toBe(0);
  await project.until("it ended with Ctrl-C", async () => !(await answers(polite.told.url)));
  const killed = await start();
  killed.child.kill("SIGKILL");
  await project.until("it ended with its process", async () => !(await answers(killed.told.url)));
  const detached = await project.json("serve", "--port", port, "--detach");
  expect(await answers(String(detached.url))).toBe(true);
  expect(await project.json("serve", "status")).toMatchObject({ serving: true, detached: true, port: Number(port) });
  expect(await project.json("serve", "stop")).toMatchObject({ stopped: true });
  expect(await project.json("serve", "stop")).toMatchObject({ stopped: false });
  await project.until("it ended", async () => !(await answers(String(detached.url))));
  expect(await project.json("serve", "status")).toMatchObject({ serving: false, url: null });
}, 60_000);

test("--host says where, and warns where other machines can reach it", async () => {
  await using project = await makeProject({});
  const local = await project.ov("serve", "--detach", "--port", String(await freePort()), "--host", "127.0.0.3");
  expect([local.code, local.out.includes("127.0.0.3"), local.err]).toEqual([0, true, ""]);
  await project.json("serve", "stop");
  const everywhere = await project.ov(
    "serve",
    "--detach",
    "--port",
    String(await freePort()),
    "--host",
    "0.0.0.0",
    "--json",
  );
  expect(everywhere.err + everywhere.out).toContain("other machines can reach it");
  const { url } = JSON.parse(everywhere.out);
  expect(url).toStartWith("http://127.0.0.1:");
  expect(await answers(url)).toBe(true);
}, 60_000);

test("an engine that is killed serves again at the same port, with the sessions that there were", async () => {
  await using project = await makeProject({});
  const served = await project.json("serve", "--detach", "--port", String(await freePort()));
  const web = await logIn(String(served.loginUrl));
  const before = (await (await web.get("/api/me")).json()) as { epoch: string };
  process.kill(readIdentity(statePath(project.root, "run", "engine.json"))?.pid ?? 0, "SIGKILL");
  await project.until("it serves again", async () => {
    const reply = await web.get("/api/me").catch(() => undefined);
    return reply?.status === 200 && ((await reply.json()) as { epoch: string }).epoch !== before.epoch;
  });
}, 60_000);

test("the compiled program has no sources of the page, and says where they are", async () => {
  await using project = await makeProject({});
  const refused = await project.ov("serve", "--dev", "--port", String(await freePort()));
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("bin/ov of a checkout")]);
  expect(await project.json("serve", "status")).toMatchObject({ serving: false });
  const both = await project.ov("serve", "--dev", "--detach");
  expect([both.code, both.err]).toEqual([2, expect.stringContaining("--dev")]);
}, 60_000);

test("with engine.mcpHttp the tools of agents are at the port of the page, and at their own without it", async () => {
  await using project = await makeProject({ config: "  mcpHttp: true\n" });
  const notice = statePath(project.root, "run/mcp.json");
  const where = (): string => (existsSync(notice) ? JSON.parse(readFileSync(notice, "utf8")).url : "");
  const port = await freePort();
  const served = await project.json("serve", "--detach", "--port", String(port));
  await project.until("the tools moved", async () => where() === `http://127.0.0.1:${port}/mcp`);
  const ask = (url: string) =>
    fetch(url, { method: "POST", body: "{}", headers: { "content-type": "application/json" } }).then(
      ({ status }) => status,
      () => 0,
    );
  expect(await ask(where())).toBe(401);
  expect((await fetch(where(), { headers: { host: "evil.example" } })).status).toBe(403);
  const web = await logIn(String(served.loginUrl));
  // A login to the page is no token of an agent, and the other way round.
  expect((await web.send("POST", "/mcp", {})).status).toBe(401);
  await project.json("serve", "stop");
  await project.until(
    "the tools have a port of their own",
    async () => !where().includes(`:${port}/`) && where() !== "",
  );
  await project.until("they answer there", async () => (await ask(where())) === 401);
  await project.json("serve", "--detach", "--port", String(await freePort()), "--host", "0.0.0.0");
  expect(await ask(where())).toBe(401);
  expect(new URL(where()).hostname).toBe("127.0.0.1");
}, 60_000);

test("no command and no engine loads the server unless it is asked to listen", async () => {
  const root = resolve(import.meta.dir, "../..");
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const code = readFileSync(file, "utf8").replace(/^import type[^;]*;/gm, "");
    for (const [, to = ""] of code.matchAll(/^(?:import|export)[^"';]*?from\s*"(\.[^"]+)"/gm))
      if (to.endsWith(".ts")) visit(resolve(file, "..", to));
  };
  for (const entry of ["src/compose/main.ts", "src/compose/engine-main.ts", "src/surfaces/cli/commands/serve.ts"])
    visit(join(root, entry));
  const loaded = [...seen].map((file) => file.slice(root.length + 1));
  expect(loaded.length).toBeGreaterThan(50);
  expect(loaded.filter((file) => /^src\/(surfaces\/server|contract\/http|surfaces\/mcp)\//.test(file))).toEqual([]);
});
