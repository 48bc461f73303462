import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { moveClock, slingNew } from "../../testkit/lifecycle.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { connect, logIn, serveWeb } from "../../testkit/web.ts";

/** What a command shows on a terminal. */
async function onTerminal({ root, env }: TestProject, ...args: string[]): Promise<string> {
  let shown = "";
  const child = Bun.spawn([ovBinary(), ...args], {
    cwd: root,
    env: { ...env, TERM: "xterm" },
    terminal: {
      cols: 200,
      rows: 24,
      data: (_terminal, data) => {
        shown += new TextDecoder().decode(data);
      },
    },
  });
  await child.exited;
  await Bun.sleep(50);
  return shown;
}

test("a code is shown on a terminal, and not in text that goes to a file or a pipe", async () => {
  await using project = await makeProject({});
  await serveWeb(project);
  expect((await project.ov("serve", "login")).out).not.toContain("#code=");
  expect((await project.ov("serve", "login", "--token")).out).not.toMatch(/[0-9a-f]{32}/);
  const shown = await onTerminal(project, "serve", "login");
  const url = /http:\S+#code=[0-9a-f]{64}/.exec(shown)?.[0] ?? "";
  expect((await (await logIn(url)).get("/api/me")).status).toBe(200);
  const database = readFileSync(join(project.root, ".git/ov-state/overstory.db"), "latin1");
  expect(database).not.toContain(url.split("#code=")[1] ?? "-");
}, 60_000);

test("below an agent nothing gives a code away: not on a terminal, not as JSON, not with a clean environment", async () => {
  const out = '"$HOME/seen.txt" 2>&1';
  const lines = [
    `ov serve login --json >> ${out}`,
    `env -i PATH="$PATH" HOME="$HOME" ov serve login --json >> ${out}`,
    `script -qec "ov serve login" /dev/null >> ${out}`,
    `script -qec "env -i PATH=$PATH HOME=$HOME ov serve" /dev/null >> ${out}`,
    `setsid env -i PATH="$PATH" HOME="$HOME" ov serve --detach --json >> ${out}`,
  ];
  const steps = lines.map((line) => `    - shell: ${JSON.stringify(line)}\n      allowFail: true\n`).join("");
  await using project = await makeProject({ scenario: `- do:\n${steps}    - shell: touch "$HOME/over"\n` });
  await serveWeb(project);
  const keys = async () => ((await project.json("serve", "keys")).keys as unknown[]).length;
  const before = await keys();
  await slingNew(project, "B1");
  await project.until("the agent tried everything", async () => existsSync(join(project.home, "over")));
  const seen = readFileSync(join(project.home, "seen.txt"), "utf8");
  expect(seen).not.toContain("code=");
  expect(seen.match(/PERMISSION_ERROR|only the operator|not allowed|may not/gi)?.length ?? 0).toBeGreaterThanOrEqual(3);
  expect(await keys()).toBe(before);
}, 60_000);

test("the browser is opened by a private file, so that no command line shows the code to other users", async () => {
  await using project = await makeProject({});
  const bin = join(project.home, "bin");
  mkdirSync(bin);
  const asked = join(project.home, "asked");
  writeFileSync(
    join(bin, "xdg-open"),
    `#!/bin/sh\nprintf '%s' "$*" > "${asked}.new" && mv "${asked}.new" "${asked}"\n`,
  );
  // Stands for the time that a browser has for reading the file.
  const seen = join(project.home, "seen");
  writeFileSync(join(bin, "sleep"), `#!/bin/sh\nuntil [ -e "${seen}" ]; do /bin/sleep 0.05; done\n`);
  for (const name of ["xdg-open", "sleep"]) chmodSync(join(bin, name), 0o755);
  const env = { PATH: `${bin}:${project.env.PATH}` };
  expect((await project.ovWith({ env }, "serve", "--detach", "--port", "0", "--json")).code).not.toBe(0);
  const plain = await project.ovWith({ env }, "serve", "--detach", "--json");
  expect([plain.code, existsSync(asked)]).toEqual([0, false]);
  expect((await project.ovWith({ env }, "serve", "--detach", "--open", "--json")).code).toBe(0);
  await project.until("the opener was called", async () => existsSync(asked));
  const argument = readFileSync(asked, "utf8");
  expect(argument).toStartWith("file:///");
  expect(argument).not.toContain("code");
  const file = new URL(argument).pathname;
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const url = JSON.parse(/location\.replace\((".*?")\)/.exec(readFileSync(file, "utf8"))?.[1] ?? '""');
  expect((await (await logIn(url)).get("/api/me")).status).toBe(200);
  writeFileSync(seen, "");
  await project.until("the file with the code was deleted", async () => !existsSync(file));
}, 60_000);

test("a session that ends takes its sockets along, whoever ended it and how", async () => {
  await using project = await makeProject({});
  const [one, other] = [await serveWeb(project), await serveWeb(project)];
  const viewer = await project.json("serve", "login", "--token", "--role", "viewer");
  const sockets = [
    await one.live(),
    await other.live(),
    await connect(one.url, { authorization: `Bearer ${viewer.token}` }),
  ] as const;
  await one.send("POST", "/api/logout", {});
  await project.until("the first socket was closed", async () => sockets[0].isClosed());
  expect((await one.get("/api/me")).status).toBe(401);
  expect(sockets[1].isClosed()).toBe(false);
  await project.json("serve", "revoke", String(viewer.id));
  await project.until("that of the token was closed", async () => sockets[2].isClosed());
  expect(sockets[1].isClosed()).toBe(false);
  expect((await project.ov("serve", "revoke")).code).toBe(2);
  expect((await project.ov("serve", "revoke", "key-none")).code).not.toBe(0);
  await project.json("serve", "revoke", "--all");
  await project.until("the last one was closed", async () => sockets[1].isClosed());
  expect((await other.get("/api/me")).status).toBe(401);
  expect((await project.json("serve", "keys")).keys).toEqual([]);
  const audit = await project.read((tx) => tx.audit.list(30));
  const actions = audit.map(({ action }) => action);
  for (const action of ["web.issueKey", "web.logIn", "web.logOut", "web.revokeKeys"]) expect(actions).toContain(action);
}, 60_000);

test("a session counts for 7 days and a token for 90", async () => {
  await using project = await makeProject({});
  const web = await serveWeb(project);
  const { token } = await project.json("serve", "login", "--token");
  const status = async (headers: Record<string, string>): Promise<number> => {
    // An engine that has just started may not listen yet.
    for (;;) {
      const reply = await fetch(`${web.url}/api/me`, { headers }).catch(() => undefined);
      if (reply !== undefined) return reply.status;
      await Bun.sleep(50);
    }
  };
  const both = async (): Promise<readonly number[]> => [
    await status({ cookie: web.cookie, "x-overstory": web.pageKey }),
    await status({ authorization: `Bearer ${token}` }),
  ];
  const day = 24 * 60 * 60_000;
  const seen: (readonly number[])[] = [await both()];
  for (const days of [6, 8, 89, 91]) {
    await moveClock(project, days * day);
    seen.push(await both());
  }
  expect(seen).toEqual([
    [200, 200],
    [200, 200],
    [401, 200],
    [401, 200],
    [401, 401],
  ]);
}, 60_000);

test("wrong codes are slowed down, and a right one counts all the same", async () => {
  await using project = await makeProject({});
  const { url } = await serveWeb(project);
  const headers = { "content-type": "application/json", "x-overstory": "1", origin: url };
  const attempt = (code: string) =>
    fetch(`${url}/api/login`, { method: "POST", headers, body: JSON.stringify({ code }) }).then(({ status }) => status);
  const tried: number[] = [];
  for (let at = 0; at < 40; at++) tried.push(await attempt(String(at).padStart(64, "0")));
  expect([tried[0], tried.includes(429)]).toEqual([401, true]);
  await logIn(String((await project.json("serve", "login")).url));
}, 60_000);

test("ov serve keys and Settings tell when each session and token was last shown", async () => {
  await using project = await makeProject({});
  const web = await serveWeb(project);
  const { token, id } = await project.json("serve", "login", "--token", "--role", "viewer");
  const keys = async () => (await (await web.get("/api/keys")).json()) as { items: { id: string; usedAt: string }[] };
  const usedAt = async () => (await keys()).items.find((key) => key.id === id)?.usedAt;
  expect(await usedAt()).toBeNull();
  expect((await project.ov("serve", "keys")).out).toContain("never");
  const before = Date.now();
  await fetch(`${web.url}/api/me`, { headers: { authorization: `Bearer ${token}` } });
  expect(Date.parse(String(await usedAt()))).toBeGreaterThanOrEqual(before - 1);
  expect((await project.ov("serve", "keys")).out).not.toContain("never");
});
