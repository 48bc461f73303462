import { expect, test } from "bun:test";
import { slingNew } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";
import { freePort, logIn, serveWeb } from "../../testkit/web.ts";

test("ov serve lets a browser in by a code that counts once, and the page follows what agents do", async () => {
  await using project = await makeProject({ scenario: "done" });
  const web = await serveWeb(project);
  expect(await (await web.get("/api/me")).json()).toMatchObject({ user: "operator" });
  const live = await web.live();
  await live.until(({ op }) => op === "hello");
  live.send({ op: "sub", id: "f", topic: "fleet" });
  const snapshot = await live.until(({ op, id }) => op === "snapshot" && id === "f");
  expect(snapshot.data).toEqual({ items: [] });
  await slingNew(project, "B1");
  await live.until(({ op, id, items }) => op === "delta" && id === "f" && JSON.stringify(items).includes('"b1"'));
  live.send({ op: "sub", id: "a", topic: "agent:b1" });
  await live.until(({ op, id }) => op === "snapshot" && id === "a");
  await project.settled();
  for (const path of paths) {
    const reply = await web.get(path);
    expect([path, reply.status, (await reply.text()).slice(0, reply.status === 200 ? 0 : 300)]).toEqual([
      path,
      200,
      "",
    ]);
  }
  live.close();
});

const paths = [
  "/",
  "/healthz",
  "/api/overview",
  "/api/agents",
  "/api/agents/b1",
  "/api/agents/b1/inspect",
  "/api/agents/b1/diff",
  "/api/agents/b1/turns",
  "/api/agents/b1/snapshots",
  "/api/reviews",
  "/api/reviews/b1",
  "/api/mail?agent=b1",
  "/api/agents/b1/events?limit=2",
  "/api/events?agent=b1",
  "/api/attention",
  "/api/decisions",
  "/api/mail",
  "/api/mail/threads?box=all",
  "/api/mail/with/b1",
  "/api/coordinator",
  "/api/coordinator/plan",
  "/api/since?since=0",
  "/api/merge",
  "/api/merge/queue",
  "/api/merge/state",
  "/api/merge/ops",
  "/api/merge/radar",
  "/api/gates",
  "/api/tasks",
  "/api/tasks/B1",
  "/api/runs",
  "/api/costs?group=model",
  "/api/costs/sessions",
  "/api/costs/live",
  "/api/costs/series?by=model",
  "/api/budgets",
  "/api/runs/figures",
  "/api/doctor?categories=config",
  "/api/config",
  "/api/config/file",
  "/api/services",
  "/api/keys",
  "/api/audit?limit=1",
  "/api/openapi.json",
] as const;

test("a second ov serve attaches, a code counts once, and ov serve stop ends it", async () => {
  await using project = await makeProject({});
  const port = String(await freePort());
  const first = await project.json("serve", "--detach", "--port", port);
  expect(first).toMatchObject({ status: "started", port: Number(port), hostname: "127.0.0.1" });
  const second = await project.json("serve", "--detach");
  expect(second).toMatchObject({ status: "attached", port: Number(port) });
  await logIn(String(first.loginUrl));
  await expect(logIn(String(first.loginUrl))).rejects.toThrow("401");
  await logIn(String(second.loginUrl));
  expect(await project.json("serve", "status")).toMatchObject({ serving: true, port: Number(port) });
  expect(await project.json("serve", "stop")).toMatchObject({ stopped: true });
  await project.until("the port is closed", async () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      () => false,
      () => true,
    ),
  );
});
