import { expect, test } from "bun:test";
import { join } from "node:path";
import { type AnyRoute, routes } from "../../src/contract/http/routes.ts";
import { aDelivery, aMessage } from "../../testkit/contracts/store/rows.ts";
import { slingNew } from "../../testkit/lifecycle.ts";
import { fillStore } from "../../testkit/mail-seed.ts";
import { makeProject } from "../../testkit/project.ts";
import { type WebHandler, webHandler } from "../../testkit/web-handler.ts";

const ask = (handler: WebHandler, path: string, init: { method?: string; body?: object; headers?: object } = {}) =>
  handler.fresh().answer(
    new Request(`http://127.0.0.1:7321${path}`, {
      method: init.method ?? "GET",
      headers: {
        host: "127.0.0.1:7321",
        authorization: `Bearer ${handler.token}`,
        "content-type": "application/json",
        "x-overstory": "1",
        ...init.headers,
      },
      ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
    }),
  );

const read = async <T>(handler: WebHandler, path: string): Promise<T> => {
  const reply = await ask(handler, path);
  const text = await reply.text();
  expect([path, reply.status, reply.status === 200 ? "" : text]).toEqual([path, 200, ""]);
  return JSON.parse(text) as T;
};

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: object;
  }[];
  readonly requestBody?: {
    readonly content: { readonly "application/json": { readonly schema: Record<string, unknown> } };
  };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

test("the document at /api/openapi.json is valid, whole, and says what requests are compared with", async () => {
  await using project = await makeProject({});
  await project.json("task", "create", "Any", "--id", "T1");
  await using handler = await webHandler(project);
  const document = await read<{ openapi: string; info: object; paths: Record<string, Record<string, Described>> }>(
    handler,
    "/api/openapi.json",
  );
  expect(document).toMatchObject({
    openapi: "3.1.0",
    info: { title: expect.any(String), version: expect.any(String) },
  });
  const ids = new Set<string>();
  const described = new Set<string>();
  for (const [path, methods] of Object.entries(document.paths)) {
    expect(path).toMatch(/^\/api(\/([a-z.-]+|\{[A-Za-z]+\}))+$/);
    const inPath = [...path.matchAll(/\{([A-Za-z]+)\}/g)].map(([, name]) => name);
    for (const [method, one] of Object.entries(methods)) {
      expect(["get", "post", "put", "patch", "delete"]).toContain(method);
      expect(ids.has(one.operationId)).toBe(false);
      ids.add(one.operationId);
      described.add(`${method.toUpperCase()} ${path.replaceAll(/\{([A-Za-z]+)\}/g, ":$1")}`);
      const parameters = one.parameters ?? [];
      const ofPath = parameters.filter((parameter) => parameter.in === "path");
      expect(ofPath.map(({ name }) => name)).toEqual(inPath as string[]);
      for (const parameter of parameters) {
        expect(["path", "query"]).toContain(parameter.in);
        expect([typeof parameter.name, typeof parameter.required, typeof parameter.schema]).toEqual([
          "string",
          "boolean",
          "object",
        ]);
        if (parameter.in === "path") expect(parameter.required).toBe(true);
      }
      expect(new Set(parameters.map((parameter) => `${parameter.in} ${parameter.name}`)).size).toBe(parameters.length);
      if (method === "get") expect(one.requestBody).toBeUndefined();
      for (const [status, { description }] of Object.entries(one.responses)) {
        expect(status).toMatch(/^([1-5]\d\d|default)$/);
        expect(description).not.toBe("");
      }
      checkSchemas(one);
    }
  }
  for (const name of Object.keys(routes)) expect([...described]).toContain(name);
  expect(
    JSON.stringify(document)
      .match(/"\$ref":"([^"]+)"/g)
      ?.every((ref) => ref.includes("#/components/schemas/Error")),
  ).toBe(true);
  // A field that the document calls needed is needed, and nothing else is.
  const create = document.paths["/api/tasks"]?.post?.requestBody?.content["application/json"].schema;
  expect(create?.required).toEqual(["title"]);
  expect((await ask(handler, "/api/tasks", { method: "POST", body: {} })).status).toBe(400);
  expect((await ask(handler, "/api/tasks", { method: "POST", body: { title: "t" } })).status).toBe(200);
});

/** Types are those of JSON Schema, and what is required is described. */
function checkSchemas(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const { type, properties, required, enum: choices } = value as Record<string, unknown>;
  if (typeof type === "string")
    expect(["string", "integer", "number", "boolean", "null", "array", "object", "http"]).toContain(type);
  if (Array.isArray(required) && typeof properties === "object" && properties !== null)
    for (const name of required) expect(Object.keys(properties)).toContain(name as string);
  if (choices !== undefined) expect(Array.isArray(choices) && choices.length > 0).toBe(true);
  for (const inner of Object.values(value)) checkSchemas(inner);
}

interface Page {
  readonly items: readonly { readonly id: string | number }[];
  readonly next?: string;
  readonly prev?: string;
}

test("pages of what grows go both ways, and nothing is lost or doubled while more comes in", async () => {
  await using project = await makeProject({});
  await project.json("task", "create", "Any", "--id", "T1");
  const write = async (from: number, to: number) => {
    await fillStore(project.root, async (tx) => {
      for (let at = from; at < to; at++) {
        const seq = await tx.messages.insert(aMessage(`m-${at}`, { subject: `s${at}` }));
        await tx.deliveries.insert([aDelivery(seq, "operator")]);
        await tx.events.append([
          {
            agentName: null,
            agentId: null,
            runId: null,
            turnId: null,
            source: "engine",
            level: "info",
            type: "engine_error",
            data: { text: String(at) },
            createdAt: at,
            line: null,
            part: null,
          } as never,
        ]);
      }
    });
  };
  await write(0, 60);
  await using handler = await webHandler(project);
  for (const path of ["/api/mail", "/api/events"]) {
    const first = await read<Page>(handler, `${path}?limit=25`);
    const seen = first.items.map(({ id }) => id);
    await write(path === "/api/mail" ? 60 : 100, path === "/api/mail" ? 90 : 130);
    let next = first.next;
    while (next !== undefined) {
      const page: Page = await read<Page>(handler, `${path}?limit=25&cursor=${next}`);
      seen.push(...page.items.map(({ id }) => id));
      next = page.next;
    }
    expect(new Set(seen).size).toBe(seen.length);
    // Towards what came in meanwhile: the pages nearest to where we were come first.
    let prev = first.prev;
    for (let page = await read<Page>(handler, `${path}?limit=10&cursor=${prev}`); page.items.length > 0; ) {
      seen.unshift(...page.items.map(({ id }) => id));
      prev = page.prev;
      page = await read<Page>(handler, `${path}?limit=10&cursor=${prev}`);
    }
    const all = await read<Page>(handler, `${path}?limit=500`);
    expect(seen).toEqual(all.items.map(({ id }) => id));
    expect(all.next).toBeUndefined();
  }
  for (const wrong of [
    "cursor=x",
    "limit=0",
    "limit=1&limit=2",
    "limit=501",
    "limit=ten",
    `cursor=${btoa('{"before":"x"}')}`,
  ])
    expect([wrong, (await ask(handler, `/api/mail?${wrong}`)).status]).toEqual([wrong, 400]);
});

test("a list that has not changed is not sent again, and one that has is", async () => {
  await using project = await makeProject({});
  await project.json("task", "create", "Any", "--id", "T1");
  await using handler = await webHandler(project);
  const first = await ask(handler, "/api/tasks");
  const etag = first.headers.get("etag") ?? "";
  const same = await ask(handler, "/api/tasks", { headers: { "if-none-match": `"other", ${etag}` } });
  expect([same.status, await same.text(), same.headers.get("etag")]).toEqual([304, "", etag]);
  expect((await ask(handler, "/api/tasks", { method: "POST", body: { title: "another" } })).headers.get("etag")).toBe(
    null,
  );
  expect((await ask(handler, "/api/tasks", { headers: { "if-none-match": etag } })).status).toBe(200);
});

test("each address calls an operation that is there, and gives viewers nothing that changes something", async () => {
  for (const [name, route] of Object.entries(routes)) {
    const { isForViewers, isPaged } = route as unknown as AnyRoute;
    if (!name.startsWith("GET ")) expect([name, isForViewers]).toEqual([name, false]);
    if (isPaged === true) expect(name).toStartWith("GET ");
  }
  await using project = await makeProject({});
  await project.json("task", "create", "Find <me>", "--id", "T1");
  await project.json("group", "create", "g1", "T1");
  await using handler = await webHandler(project);
  const found = await read<{ items: { kind: string; id: string }[] }>(handler, "/api/search?q=find%20ME");
  expect(found.items.map(({ kind, id }) => [kind, id])).toEqual([["task", "T1"]]);
  expect((await read<{ items: { name: string }[] }>(handler, "/api/groups")).items.map(({ name }) => name)).toEqual([
    "g1",
  ]);
  expect(await read(handler, "/api/coordinator/state")).toEqual({
    running: false,
    agentName: null,
    pid: null,
    tmuxSession: null,
    runId: null,
    startedAt: null,
    lastActivityAt: null,
    headless: false,
  });
  expect((await ask(handler, "/api/specs/T1", { method: "PUT", body: { body: "Do it." } })).status).toBe(200);
  expect(await read(handler, "/api/specs/T1")).toMatchObject({ taskId: "T1" });
  for (const path of ["/api/snapshots", "/api/engine", "/api/gates"]) await read(handler, path);
  expect((await ask(handler, "/api/gates/none/log")).status).toBe(404);
  expect(
    (await ask(handler, "/api/coordinator/send", { method: "POST", body: { subject: "s", body: "b" } })).status,
  ).toBe(404);
});

test("the addresses of 0.11 start one coordinator, however often they are asked, and stop it", async () => {
  await using project = await makeProject({});
  await using handler = await webHandler(project);
  const post = async (path: string, body: object): Promise<unknown> =>
    (await ask(handler, path, { method: "POST", body })).json();
  const started = await post("/api/coordinator/start", { objective: "Do it" });
  expect(started).toMatchObject({ started: true, alreadyRunning: false, agentName: "coordinator" });
  const { runId } = started as { readonly runId: string };
  expect(await read(handler, "/api/coordinator/state")).toMatchObject({
    running: true,
    agentName: "coordinator",
    runId,
    tmuxSession: null,
    startedAt: expect.any(String),
    lastActivityAt: expect.any(String),
    headless: true,
  });
  expect(await post("/api/coordinator/start", {})).toMatchObject({ started: false, alreadyRunning: true, runId });
  expect(await handler.app.call("web.stopCoordinator", {})).toMatchObject({ ok: true, value: { stopped: true } });
  expect(await handler.app.call("web.stopCoordinator", {})).toMatchObject({ ok: true, value: { stopped: false } });
  expect(await read(handler, `/api/runs/${runId}`)).toMatchObject({ run: { status: "completed" } });
});

test("the addresses of 0.11 for mail tell the ids and the thread that programs read there", async () => {
  await using project = await makeProject({});
  await project.json("task", "create", "Any", "--id", "T1");
  await using handler = await webHandler(project);
  const send = async (path: string, body: object, method = "POST"): Promise<Record<string, unknown>> => {
    const reply = await ask(handler, path, { method, body });
    expect([path, reply.status]).toEqual([path, 200]);
    return (await reply.json()) as Record<string, unknown>;
  };
  const first = await send("/api/mail", { to: "operator", subject: "s", body: "b", type: "question" });
  const id = String(first.messageId);
  const { messageId: answerId } = await send(`/api/mail/${id}/reply`, { body: "so" });
  expect(await read(handler, `/api/mail/${answerId}`)).toMatchObject({
    message: { id: answerId },
    thread: [{ id }, { id: answerId }],
  });
  expect(await send(`/api/mail/${id}/read`, {})).toEqual({ id, read: true });
  expect(await send(`/api/mail/${id}`, {}, "DELETE")).toEqual({ id, deleted: true });
});

test("a branch is queued, planned, followed and compared over the API, as it is by commands", async () => {
  await using project = await makeProject({ files: { "menu.txt": "menu\n" } });
  await project.git("checkout", "--quiet", "-b", "a", "main");
  await Bun.write(join(project.root, "menu.txt"), "other\n");
  await project.git("commit", "--quiet", "-am", "work");
  await project.git("checkout", "--quiet", "main");
  await project.json("task", "create", "Any", "--id", "T1");
  await project.json("merge", "pause");
  await using handler = await webHandler(project);
  const post = async (path: string, body: object) => {
    const reply = await ask(handler, path, { method: "POST", body });
    return { status: reply.status, reply: (await reply.json()) as Record<string, unknown> };
  };
  const { status, reply } = await post("/api/merge", { branch: "a" });
  expect([status, reply]).toMatchObject([200, { added: true, entry: { branch: "a", filesModified: ["menu.txt"] } }]);
  expect((await post("/api/merge", { branch: "a" })).reply).toMatchObject({ added: false });
  expect((await post("/api/merge", { branch: "none" })).status).toBe(404);
  const byCommand = await project.json("merge", "plan");
  expect(await read(handler, "/api/merge/plan")).toMatchObject({
    entries: byCommand.entries,
    waiting: [{ branch: "a", why: expect.stringContaining("approval") }],
  });
  const { id } = reply.entry as { readonly id: number };
  expect(await read(handler, `/api/merge/${id}/gates`)).toEqual({ items: [] });
  expect(await read(handler, `/api/merge/${id}/log`)).toEqual({ attempts: [], operations: [] });
  expect((await post(`/api/merge/${id}/resolve`, { files: [] })).status).toBeGreaterThanOrEqual(400);
  const compared = await read(handler, "/api/diff?from=main&to=a&path=menu.txt");
  expect(compared).toMatchObject({ added: 1, removed: 1, files: [{ path: "menu.txt", hunks: [{}] }] });
  for (const wrong of ["from=none&to=a", "from=main&to=-a", "from=main", `from=main&to=${encodeURIComponent("a\nb")}`])
    expect([wrong, (await ask(handler, `/api/diff?${wrong}`)).status]).toEqual([wrong, 400]);
});

test("what an agent touched, wrote, was told and cost has an address each", async () => {
  const scenario = `
- do:
    - edit: { file: made.txt, write: "x\\n" }
    - say: "It is made"
    - ov: [mail, send, --to, operator, --subject, made, --body, "it is"]
    - ov: [done, --summary, It is made, --no-code]
`;
  await using project = await makeProject({ scenario });
  await slingNew(project, "B1");
  await project.settled();
  await using handler = await webHandler(project);
  expect(await read(handler, "/api/agents/b1/files")).toMatchObject({ items: ["made.txt"], scope: [] });
  const { items: lines } = await read<{ items: { text: string }[] }>(handler, "/api/agents/b1/log?limit=50");
  expect(lines.map(({ text }) => text).join("\n")).toContain("It is made");
  const { items: letters } = await read<{ items: object[] }>(handler, "/api/agents/b1/mail");
  expect(letters).toContainEqual(expect.objectContaining({ from: "b1", subject: "made" }));
  expect(await read(handler, "/api/agents/b1/costs")).toMatchObject({ items: [{ agentName: "b1", turns: 1 }] });
  const { lines: raw } = await read<{ lines: string[] }>(handler, "/api/agents/b1/transcript");
  expect(raw.join("\n")).toContain("It is made");
  const { runId } = await project.agent("b1");
  expect(await read(handler, `/api/timeline?run=${runId}`)).toMatchObject({ run: { id: runId } });
  for (const part of ["files", "log", "costs", "transcript"])
    expect([part, (await ask(handler, `/api/agents/nobody/${part}`)).status]).toEqual([part, 404]);
}, 60_000);
