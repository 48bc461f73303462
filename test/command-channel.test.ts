import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { directChannel, remoteChannel } from "../src/compose/channel.ts";
import { openProject } from "../src/compose/project.ts";
import type { Schema } from "../src/domain/schema/schema.ts";
import { callEngine } from "../src/host/engine-contact/caller.ts";
import { randomIds } from "../src/host/ids.ts";
import { linuxProcesses } from "../src/host/processes.ts";
import { placeAround } from "../src/host/project-place.ts";
import { catalog, isUseCase, type OperationName, operationOf } from "../src/usecases/catalog.ts";
import { commandChannelContract } from "../testkit/contracts/command-channel.ts";
import { fillStore } from "../testkit/mail-seed.ts";
import { ovBinary } from "../testkit/ov.ts";
import { makeProject, type TestProject } from "../testkit/project.ts";
import { confining, withoutBubblewrap } from "../testkit/sandboxed.ts";
import { statePath } from "../testkit/state.ts";
import { activeRun, storedAgent } from "../testkit/use-case.ts";

/** Keeps the engine up for the whole test, and lets it look at nothing unless it is woken. */
const idle = { OVERSTORY__ENGINE__IDLE_EXIT_MS: "600000" };
const longLived = { config: "", env: { ...idle, OVERSTORY_TEST_CONFINED: "1" } };

const names = Object.keys(catalog) as OperationName[];

function startEngine(project: TestProject): number {
  const child = Bun.spawn({
    cmd: [ovBinary(), "engine", "run", "--project", project.root],
    env: { ...project.env, OVERSTORY_PROJECT_ROOT: project.root },
    stdio: ["ignore", "ignore", "inherit"],
    detached: true,
  });
  child.unref();
  return child.pid;
}

/** A lead with a token, as a sandboxed agent would have one. */
async function seatedToken(project: TestProject): Promise<string> {
  const token = "a-token-for-tests";
  const agent = storedAgent("lead1", { capability: "lead", worktreePath: project.root });
  await fillStore(project.root, async (tx) => {
    await tx.runs.insert(activeRun("run-1", 0));
    await tx.agents.reserve(agent);
    const row = { digest: randomIds.digest(token), agentId: agent.id, turnId: null, createdAt: 0, revokedAt: null };
    await tx.tokens.insert(row);
  });
  return token;
}

commandChannelContract("direct", async (work) => {
  await using project = await makeProject(longLived);
  await project.ov("status");
  const channel = directChannel(await openProject(placeAround(project.root), project.env));
  await work({ project, channel });
  await channel.close();
});

commandChannelContract("remote", async (work) => {
  await using project = await makeProject(longLived);
  await project.ov("status");
  startEngine(project);
  const token = await seatedToken(project);
  await work({ project, token, channel: remoteChannel({ dir: statePath(project.root) }) });
});

test("a remote call outlives a restart of the engine and still acts once", async () => {
  await using project = await makeProject(longLived);
  await project.ov("status");
  const pid = startEngine(project);
  const channel = remoteChannel({ dir: statePath(project.root) });
  const token = await seatedToken(project);
  await channel.call({ name: "task.create", request: { title: "One", id: "T1" }, token });
  const identity = linuxProcesses.identify(pid);
  if (identity === undefined) throw new Error("the engine is not there");
  process.kill(pid, "SIGKILL");
  const pending = channel.call({ name: "task.create", request: { title: "Two", id: "T2" }, token });
  await project.until("the first engine was gone", async () => linuxProcesses.check(identity) === "gone");
  startEngine(project);
  expect(await pending).toMatchObject({ ok: true });
  expect((await project.read((tx) => tx.tasks.ids())).toSorted()).toEqual(["T1", "T2"]);
});

test("the same request id gets the first reply and changes nothing", async () => {
  await using project = await makeProject(longLived);
  await project.ov("status");
  startEngine(project);
  const token = await seatedToken(project);
  const frame = JSON.stringify({ name: "task.create", request: { title: "Once" }, requestId: "request-1", token });
  const first = await callEngine(statePath(project.root), frame);
  const second = await callEngine(statePath(project.root), frame);
  expect(second).toBe(first);
  expect(await project.read((tx) => tx.tasks.ids())).toHaveLength(1);
});

test("a stored reply is given to the caller it was stored for and to nobody else", async () => {
  await using project = await makeProject(longLived);
  await project.ov("status");
  startEngine(project);
  const state = statePath(project.root);
  const token = await seatedToken(project);
  const other = "another-token-for-tests";
  await fillStore(project.root, async (tx) => {
    const agent = storedAgent("lead2", { capability: "lead", worktreePath: project.root });
    await tx.agents.reserve(agent);
    const row = { digest: randomIds.digest(other), agentId: agent.id, turnId: null, createdAt: 0, revokedAt: null };
    await tx.tokens.insert(row);
  });
  const frame = { name: "task.create", request: { title: "Once" }, requestId: "request-1" };
  const ask = async (more: object) => JSON.parse(await callEngine(state, JSON.stringify({ ...frame, ...more })));
  const first = await ask({ token });
  expect(first).toMatchObject({ result: { ok: true } });
  for (const nobody of [{}, { token: "made-up" }]) {
    expect(await ask(nobody)).toEqual({ result: { ok: false, refusal: { kind: "unknown-token" } } });
  }
  expect(await ask({ token: other })).not.toEqual(first);
  expect(await ask({ token })).toEqual(first);
  expect(await project.read((tx) => tx.tasks.ids())).toHaveLength(2);
});

test("a call over the socket without a token speaks for nobody", async () => {
  await using project = await makeProject(longLived);
  await project.ov("status");
  startEngine(project);
  const channel = remoteChannel({ dir: statePath(project.root) });
  const refused = await channel.call({ name: "task.create", request: { title: "One", id: "T1" } });
  expect(refused).toEqual({ ok: false, refusal: { kind: "unknown-token" } });
  expect(await project.read((tx) => tx.tasks.ids())).toEqual([]);
});

test("over the socket a branch is shown with the files it changes, and retried with its newest commit", async () => {
  await using project = await makeProject({
    ...longLived,
    env: { ...longLived.env, OVERSTORY__MERGE__MODE: "manual" },
  });
  await project.git("checkout", "--quiet", "-b", "overstory/b1/T1");
  await project.git("commit", "--quiet", "--allow-empty", "-m", "fails");
  const failing = (await project.git("rev-parse", "HEAD")).trim();
  writeFileSync(join(project.root, "mended.txt"), "1\n");
  await project.git("add", "mended.txt");
  await project.git("commit", "--quiet", "-m", "mends");
  const mended = (await project.git("rev-parse", "HEAD")).trim();
  await project.git("checkout", "--quiet", "main");
  await project.git("branch", "--force", "overstory/b1/T1", failing);
  await project.ov("status");
  startEngine(project);
  const token = await seatedToken(project);
  await fillStore(project.root, (tx) =>
    tx.agents.reserve(storedAgent("b1", { parentName: "lead1", branch: "overstory/b1/T1" })),
  );
  const channel = remoteChannel({ dir: statePath(project.root) });
  const ask = (name: OperationName, request: object) => channel.call({ name, request, token });
  // Git says which commit an agent queues.
  const add = { branch: "overstory/b1/T1", headCommit: mended };
  expect(await ask("merge.add", add)).toMatchObject({ ok: true, value: { entry: { id: 1, headCommit: failing } } });
  await project.git("branch", "--force", "overstory/b1/T1", mended);
  await fillStore(project.root, async (tx) => void (await tx.merges.change(1, ["pending"], { status: "failed" })));
  expect(await ask("merge.retry", { of: "1" })).toMatchObject({
    ok: true,
    value: { isNewer: true, entry: { headCommit: mended, status: "pending" } },
  });
  await fillStore(project.root, async (tx) => void (await tx.merges.change(2, ["pending"], { filesModified: [] })));
  expect(await ask("merge.show", { of: "2" })).toMatchObject({
    ok: true,
    value: { entry: { filesModified: ["mended.txt"] } },
  });
  expect(await ask("merge.approve", { of: "2" })).toMatchObject({ ok: false, refusal: { kind: "not-allowed" } });
}, 60_000);

test("a call over the socket that leaves work wakes the engine at once", async () => {
  await using project = await makeProject(longLived);
  await project.json("task", "create", "Build", "--id", "T1");
  startEngine(project);
  const token = await seatedToken(project);
  const channel = remoteChannel({ dir: statePath(project.root) });
  const request = { taskId: "T1", capability: "builder", name: "b1", files: [], environment: {} };
  expect(await channel.call({ name: "agent.sling", request, token })).toMatchObject({ ok: true });
  await project.until("it had a worktree", async () => (await project.agent("b1")).worktreePath !== null);
});

const malformed = ["", " ", null, 0, false, [], {}, "none", "a".repeat(1_000_000)];
test.each(malformed.map((token) => [JSON.stringify(token).slice(0, 20), token] as const))(
  "over the socket %s is no token of anybody, and never the operator's",
  async (_, token) => {
    await using project = await makeProject(longLived);
    await project.ov("status");
    startEngine(project);
    const frame = JSON.stringify({ name: "task.create", request: { title: "One" }, requestId: "request-1", token });
    const answer = JSON.parse(await callEngine(statePath(project.root), frame));
    expect(answer).toEqual({ result: { ok: false, refusal: { kind: "unknown-token" } } });
    expect(await project.read((tx) => tx.tasks.ids())).toEqual([]);
  },
);

test("unless agents are kept from each other by the system, no token counts over the socket, whatever is configured", () =>
  withoutBubblewrap(async (PATH) => {
    await using project = await makeProject({ config: confining, env: { ...idle, PATH } });
    await project.ov("status");
    startEngine(project);
    const channel = remoteChannel({ dir: statePath(project.root) });
    const token = await seatedToken(project);
    const refused = await channel.call({ name: "task.create", request: { title: "One", id: "T1" }, token });
    expect(refused).toEqual({ ok: false, refusal: { kind: "token-elsewhere", over: "connection" } });
    expect(await project.read((tx) => tx.tasks.ids())).toEqual([]);
  }));

test("nobody has the engine run an effect without a token, not even one that only looks", async () => {
  await using project = await makeProject(longLived);
  await project.ov("status");
  startEngine(project);
  const channel = remoteChannel({ dir: statePath(project.root) });
  const answers: [string, unknown][] = [];
  for (const name of names) {
    const operation = await operationOf(name);
    if (isUseCase(operation) || operation.place !== "engine") continue;
    answers.push([name, await channel.call({ name, request: sampleOf(operation.request) })]);
  }
  expect(answers.length).toBeGreaterThan(20);
  const refused = { ok: false, refusal: { kind: "unknown-token" } } as const;
  expect(answers).toEqual(answers.map(([name]) => [name, refused]));
  const audited = await project.read((tx) => tx.audit.list(1000));
  expect(audited.map(({ action }) => action).toSorted()).toEqual(answers.map(([name]) => name).toSorted());
});

test("over the socket every operation takes a request that fits its schema, and refuses others before anything runs", async () => {
  await using project = await makeProject(longLived);
  await project.ov("status");
  startEngine(project);
  const state = statePath(project.root);
  const token = await seatedToken(project);
  const ask = async (frame: object) => JSON.parse(await callEngine(state, JSON.stringify(frame))).result;
  expect(await ask({ name: "group.list", request: {}, token })).toMatchObject({ ok: true });
  const before = storedRows(project.root);
  let refused = 0;
  for (const name of names) {
    const operation = await operationOf(name);
    if (!isUseCase(operation) && operation.place === "caller") {
      const answer = await ask({ name, request: sampleOf(operation.request), token });
      expect([name, answer]).toMatchObject([name, { ok: false, refusal: { kind: "invalid", field: "name" } }]);
      continue;
    }
    for (const [field, request] of misfitsOf(operation.request)) {
      const answer = await ask({ name, request, requestId: `request-${refused++}`, token });
      expect([name, request, answer]).toMatchObject([
        name,
        request,
        { ok: false, refusal: { kind: "invalid", field } },
      ]);
    }
  }
  expect(refused).toBeGreaterThan(4 * names.length);
  expect(storedRows(project.root)).toEqual(before);
  // A fitting request comes as far as the question who sent it.
  for (const name of names) {
    const operation = await operationOf(name);
    if (!isUseCase(operation) && operation.place !== "engine") continue;
    const answer = await ask({ name, request: sampleOf(operation.request) });
    expect([name, answer]).toEqual([name, { ok: false, refusal: { kind: "unknown-token" } }]);
  }
}, 120_000);

test("over the socket nothing is written for a caller without a token, not even the file of a long text", async () => {
  await using project = await makeProject(longLived);
  await project.ov("status");
  startEngine(project);
  const channel = remoteChannel({ dir: statePath(project.root) });
  const request = { to: "operator", subject: "Long", body: "word ".repeat(10_000) };
  const blobs = () =>
    readdirSync(project.root, { recursive: true }).filter((path) => `${path}`.includes("mail-blobs/"));
  const refused = { ok: false, refusal: { kind: "unknown-token" } } as const;
  expect(await channel.call({ name: "mail.send", request })).toEqual(refused);
  expect(blobs()).toEqual([]);
  const token = await seatedToken(project);
  expect(await channel.call({ name: "mail.send", request, token })).toMatchObject({ ok: true });
  expect(blobs()).toHaveLength(1);
});

test("over the socket a text that is no request is refused, and its sender is told", async () => {
  await using project = await makeProject(longLived);
  await project.ov("status");
  startEngine(project);
  const frames: [string, string][] = [
    ["no JSON", "frame"],
    ["[]", "name"],
    ["7", "frame"],
    ["{}", "name"],
    [JSON.stringify({ name: "task.fly", request: {} }), "name"],
    [JSON.stringify({ name: "constructor", request: {} }), "name"],
    [JSON.stringify({ name: "group.list", request: {}, requestId: 7 }), "requestId"],
    [JSON.stringify({ name: "group.list", request: {}, requestId: "x".repeat(1000) }), "requestId"],
    [JSON.stringify({ name: "group.list" }), "request"],
  ];
  for (const [frame, field] of frames) {
    const { result } = JSON.parse(await callEngine(statePath(project.root), frame));
    expect([frame, result]).toMatchObject([frame, { ok: false, refusal: { kind: "invalid", field } }]);
  }
});

test("a caller over the socket is told at once that an operation failed", async () => {
  await using project = await makeProject(longLived);
  await project.ov("status");
  startEngine(project);
  const channel = remoteChannel({ dir: statePath(project.root) });
  const token = await seatedToken(project);
  const call = () => channel.call({ name: "branch.list", request: {}, token });
  expect(await call()).toMatchObject({ ok: true });
  const head = join(project.root, ".git/HEAD");
  renameSync(head, `${head}.kept`);
  writeFileSync(head, "broken");
  const problem = expect.stringContaining("not a git repository");
  await expect(call()).rejects.toMatchObject({ data: { kind: "unexpected", problem } });
  renameSync(`${head}.kept`, head);
  expect(await call()).toMatchObject({ ok: true });
});

/** Everything that is stored, except how long the engine may go on without a sign of life. */
function storedRows(root: string): unknown {
  const database = new Database(statePath(root, "overstory.db"), { readonly: true });
  const tables = database.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const rows = tables
    .filter(({ name }) => name !== "leases")
    .map(({ name }) => [name, database.query(`SELECT * FROM "${name}"`).all()]);
  database.close();
  return rows;
}

/** A value that fits, with every key it may have. */
function sampleOf(schema: Schema): unknown {
  switch (schema.type) {
    case undefined:
      return schema.anyOf === undefined ? "anything" : sampleOf(schema.anyOf[0] ?? {});
    case "null":
      return null;
    case "string":
      return schema.enum?.[0] ?? "some text";
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    case "array":
      return [sampleOf(schema.items)];
    case "object":
      return Object.fromEntries(Object.entries(schema.properties).map(([key, value]) => [key, sampleOf(value)]));
  }
}

/** Requests that do not fit, each with the field that is wrong: one lacking, of another type, or not known. */
function misfitsOf(schema: Schema): [field: string, request: unknown][] {
  const form = schema.type === undefined ? schema.anyOf?.[0] : schema;
  if (form?.type !== "object") throw new Error("a request is an object");
  const fitting = sampleOf(form) as Record<string, unknown>;
  const without = (key: string) => Object.fromEntries(Object.entries(fitting).filter(([name]) => name !== key));
  return [
    ["request", "no object"],
    ["request", null],
    ["unheardOf", { ...fitting, unheardOf: 1 }],
    ...form.required.map((key): [string, unknown] => [key, without(key)]),
    ...Object.entries(form.properties).flatMap(([key, value]): [string, unknown][] => {
      const wrong = misfitOf(value);
      return wrong === undefined ? [] : [[key, { ...fitting, [key]: wrong }]];
    }),
  ];
}

/** A value of another type; undefined where any value fits. */
function misfitOf(schema: Schema): unknown {
  if (schema.type === undefined) return schema.anyOf === undefined ? undefined : misfitOf(schema.anyOf[0] ?? {});
  return schema.type === "string" ? 7 : "of another type";
}
