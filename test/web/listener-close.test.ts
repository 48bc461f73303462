import { expect, test } from "bun:test";
import type { WebApp } from "../../src/surfaces/server/app.ts";
import { listen } from "../../src/surfaces/server/listener.ts";
import { makeProject } from "../../testkit/project.ts";
import { webHandler } from "../../testkit/web-handler.ts";

test("a change that takes seconds is answered by a server that ends meanwhile; a read is not waited for as long", async () => {
  await using project = await makeProject();
  await project.json("task", "create", "One", "--id", "T1");
  await using web = await webHandler(project);
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  // The engine takes up new settings while it still answers the request that changed them.
  const call = (async (name: string, request: object) => {
    if (name !== "task.create") return web.app.call(name as never, request as never);
    begun.resolve();
    await end.promise;
    return web.app.call(name as never, request as never);
  }) as WebApp["call"];
  let slept = 0;
  const sleep = async (ms: number): Promise<void> => {
    slept += ms;
    // Longer than a read would be waited for.
    if (slept === 3_000) end.resolve();
    await Bun.sleep(0);
  };
  const app: WebApp = { ...web.app, call, clock: { ...web.app.clock, sleep } };
  const server = listen(app, { host: "127.0.0.1", port: 0, strictPort: true, allowedHosts: [] });
  const headers = { authorization: `Bearer ${web.token}`, "content-type": "application/json", "x-overstory": "1" };
  const asked = fetch(`http://127.0.0.1:${server.port}/api/tasks`, {
    method: "POST",
    headers,
    body: JSON.stringify({ title: "Two", id: "T2" }),
  });
  await begun.promise;
  await server.close();
  expect((await asked).status).toBe(200);
  expect(slept).toBeGreaterThanOrEqual(3_000);
});
