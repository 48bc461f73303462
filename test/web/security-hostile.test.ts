import { expect, test } from "bun:test";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { slingNew } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";
import { serveWeb } from "../../testkit/web.ts";

const html = '<img src=x onerror="fetch(`//evil.example`)"><script>alert(1)</script>';
const ansi = "\u001b]0;title\u0007\u001b[31mred\u001b[2J\u009b5n";
const markdown = "[click](javascript:alert(1)) ![x](http://evil.example/x.png) <iframe src=//evil.example>";
const reversed = "\u202egpj.exe\u2066";
const hostile = `${html} ${ansi} ${markdown} ${reversed}`;

test("what agents wrote is served as JSON that no browser takes for a page, whole and unchanged in meaning", async () => {
  const scenario = `
- do:
    - shell: ${JSON.stringify(`printf 'x' > '<img src=x onerror=alert(1)>.txt' && git add -A && git commit -qm '${html}'`)}
    - say: ${JSON.stringify(hostile)}
`;
  await using project = await makeProject({ scenario });
  const web = await serveWeb(project);
  await project.json("task", "create", hostile, "--id", "H1", "--description", hostile);
  await project.json("mail", "send", "--to", "operator", "--subject", `${html} ${ansi}`, "--body", hostile);
  await project.git("branch", "x/<script>alert(1)</script>");
  await slingNew(project, "B1");
  await project.settled();
  const told = async (path: string): Promise<string> => {
    const reply = await web.get(path);
    const text = await reply.text();
    expect([path, reply.status, reply.headers.get("content-type")]).toEqual([path, 200, "application/json"]);
    expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
    expect(reply.headers.get("cross-origin-resource-policy")).toBe("same-origin");
    // Control bytes are escapes of JSON in what is sent.
    expect([...text].some((sign) => sign < " ")).toBe(false);
    return JSON.stringify(JSON.parse(text));
  };
  for (const path of ["/api/tasks", "/api/tasks/H1", "/api/mail", "/api/overview", "/api/attention"]) await told(path);
  expect(await told("/api/tasks/H1")).toContain("<script>alert(1)</script>");
  expect(await told("/api/mail")).toContain("<script>alert(1)</script>");
  expect(await told("/api/agents/b1/events?limit=500")).toContain("<script>alert(1)</script>");
  for (const path of ["/api/agents/b1", "/api/agents/b1/inspect", "/api/events", "/api/search?q=script"])
    await told(path);
  // Names of strangers in an address are told back as JSON too.
  for (const path of [`/api/tasks/${encodeURIComponent(html)}`, `/api/agents/${encodeURIComponent(hostile)}`]) {
    const reply = await web.get(path);
    expect([reply.status, reply.headers.get("content-type")]).toEqual([404, "application/json"]);
  }
  const live = await web.live();
  live.send({ op: "sub", id: html, topic: "agent:b1" });
  const snapshot = await live.until(({ op }) => op === "snapshot");
  expect([snapshot.id, JSON.stringify(snapshot.data).includes("alert(1)")]).toEqual([html, true]);
  live.close();
}, 60_000);

test("the page of every address may run and load only what comes from it, and is in no frame", async () => {
  await using project = await makeProject({});
  const { url } = await serveWeb(project);
  const paths = { "/": 200, "/agents/b1": 200, [`/runs/${encodeURIComponent(html)}`]: 200, "/no/such": 404 };
  for (const [path, status] of Object.entries(paths)) {
    const reply = await fetch(url + path);
    const policy = reply.headers.get("content-security-policy") ?? "";
    const nonce = /style-src 'self' 'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
    const text = await reply.text();
    expect([reply.status, nonce.length > 20, text.includes(nonce)]).toEqual([status, true, true]);
    for (const part of ["default-src 'self'", "frame-ancestors 'none'", "object-src 'none'", "base-uri 'none'"])
      expect(policy).toContain(part);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(text).not.toContain("alert(1)");
    expect(reply.headers.get("referrer-policy")).toBe("no-referrer");
  }
});

const checkout = resolve(import.meta.dir, "../..");

test("with --dev a link below the sources leads nowhere, and no path leaves them; a changed source loads the page anew", async () => {
  await using project = await makeProject({});
  const web = await serveWeb(project);
  const outside = join(project.home, "secret.txt");
  writeFileSync(outside, "a secret of the user");
  const link = join(checkout, "web", `.link-${process.pid}.txt`);
  const port = 20_000 + (process.pid % 20_000);
  const child = Bun.spawn([join(checkout, "bin/ov"), "serve", "--dev", "--dev-port", String(port), "--json"], {
    cwd: project.root,
    env: { ...project.env },
    stdout: "pipe",
    stderr: "inherit",
  });
  try {
    const first = await child.stdout.getReader().read();
    const told = JSON.parse(new TextDecoder().decode(first.value));
    const url = `http://127.0.0.1:${port}`;
    expect(told).toMatchObject({ status: "attached", devUrl: `${url}/` });
    symlinkSync(outside, link);
    for (const path of [
      `/${link.split("/").at(-1)}`,
      "/..%2f..%2fpackage.json",
      "/%2e%2e/package.json",
      "/src/main.tsx",
      "/assets/../../package.json",
    ]) {
      const reply = await fetch(url + path);
      expect([path, reply.status, (await reply.text()).includes("secret")]).toEqual([path, 404, false]);
    }
    const page = await (await fetch(url)).text();
    expect(page).toContain("/dev-reload.js");
    expect((await fetch(url, { headers: { host: "evil.example" } })).status).toBe(421);
    expect((await fetch(`${url}/api/me`, { headers: { origin: "http://evil.example" } })).status).toBe(403);
    expect((await fetch(`${url}/api/me`)).status).toBe(401);
    const own = { cookie: web.cookie, "x-overstory": web.pageKey };
    expect((await fetch(`${url}/api/me`, { headers: own })).status).toBe(200);
    const body = JSON.stringify({ title: "over the proxy" });
    const change = { ...own, origin: url, "content-type": "application/json" };
    expect((await fetch(`${url}/api/tasks`, { method: "POST", headers: change, body })).status).toBe(200);
    const reloads = await fetch(`${url}/dev-reload`);
    const reader = (reloads.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    // The link itself is a change below the sources; taking it away is another.
    rmSync(link);
    const change2 = await reader.read();
    expect(new TextDecoder().decode(change2.value)).toStartWith("data:");
    await reader.cancel();
  } finally {
    rmSync(link, { force: true });
    child.kill();
    await child.exited;
  }
  expect((await web.get("/api/me")).status).toBe(200);
}, 60_000);
