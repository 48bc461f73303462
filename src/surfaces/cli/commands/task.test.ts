import { expect, test } from "bun:test";
import { type UseCaseWorld, useCaseWorld } from "../../../../testkit/use-case.ts";
import { ok } from "../../../domain/result.ts";
import { catalog, type OperationName } from "../../../usecases/catalog.ts";
import type { Effect, World } from "../../../usecases/operation.ts";
import type { UseCase } from "../../../usecases/usecase.ts";
import type { App } from "../app.ts";
import { runCli } from "../run.ts";
import type { Sink } from "../sink.ts";
import { groupCommand, specCommand, taskCommand } from "../tree/task-commands.ts";
import { runCommand } from "../tree/watch-commands.ts";

const tree = { name: "ov", summary: "", commands: [taskCommand, specCommand, groupCommand, runCommand] };

interface Desk {
  /** What a person sees on stdout. */
  text(...argv: string[]): Promise<string>;
  /** The one JSON document of a command that succeeded. */
  json(...argv: string[]): Promise<Record<string, unknown>>;
  /** The exit code and the error of one that did not. */
  failure(...argv: string[]): Promise<{ exit: number; error: unknown }>;
  typed: string | undefined;
  readonly files: Map<string, string>;
}

/** The real commands over the real use cases; only the terminal and the named files are kept in memory. */
function desk(world: UseCaseWorld): Desk {
  const files = new Map<string, string>();
  const call = async (name: OperationName, request: unknown): Promise<unknown> => {
    const { path = "", text = "" } = request as { path?: string; text?: string };
    if (name === "file.read") return ok({ path, text: files.get(path) });
    if (name === "file.write") return ok(files.set(path, text));
    const operation = (await catalog[name]()) as UseCase<unknown, unknown> | Effect<unknown, unknown>;
    // No effect that is tried here needs anything but other operations.
    if (operation.kind === "effect") return operation.run({ call } as unknown as World, request);
    return world.call(operation, request);
  };
  const app = {
    version: "0",
    notices: async () => [],
    call,
  } as unknown as App;
  const run = async (argv: readonly string[]): Promise<{ exit: number; out: string }> => {
    let out = "";
    const sink = (write: (text: string) => void): Sink => ({
      write: (text) => {
        write(text);
        return "written";
      },
      isTTY: () => false,
      isPipe: () => false,
      columns: () => undefined,
    });
    const exit = await runCli({
      argv,
      env: {},
      tree,
      version: "0",
      makeApp: () => app,
      stdout: sink((text) => {
        out += text;
      }),
      stderr: sink(() => {}),
      stdin: async () => made.typed,
    });
    return { exit, out };
  };
  const made: Desk = {
    typed: undefined,
    files,
    text: async (...argv) => (await run(argv)).out,
    json: async (...argv) => {
      const { exit, out } = await run([...argv, "--json"]);
      if (exit !== 0) throw new Error(`ov ${argv.join(" ")} failed: ${out}`);
      const { success: _, command: __, ...data } = JSON.parse(out);
      return data;
    },
    failure: async (...argv) => {
      const { exit, out } = await run([...argv, "--json"]);
      return { exit, error: JSON.parse(out).error };
    },
  };
  return made;
}

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

test("a created task has the keys other trackers use, and ours", async () => {
  await using world = useCaseWorld();
  const ov = desk(world);
  await ov.json("task", "create", "Base", "--id", "base");
  ov.typed = "From\na pipe";
  const flags = ["--id", "t1", "--type", "bug", "--priority", "0", "--labels", "a,b", "--files", "src/x.ts"];
  const links = ["--parent", "base", "--blocked-by", "base", "--description", "-"];
  const { id, task } = await ov.json("task", "create", "--title", "Fix it", ...flags, ...links);
  expect(id).toBe("t1");
  expect(task).toEqual({
    id: "t1",
    title: "Fix it",
    status: "open",
    priority: 0,
    type: "bug",
    assignee: null,
    description: "From\na pipe",
    blocks: [],
    blockedBy: ["base"],
    waitsFor: ["base"],
    labels: ["a", "b"],
    createdAt: iso,
    updatedAt: iso,
    closedAt: null,
    closeReason: null,
    claimedBy: null,
    claimExpires: null,
    parentId: "base",
    mergeState: "none",
    files: ["src/x.ts"],
    shares: [],
    criteria: [],
    runId: null,
  });
});

test("a task goes from ready to claimed to closed, and closing says what became ready", async () => {
  await using world = useCaseWorld();
  const ov = desk(world);
  await ov.json("task", "create", "One", "--id", "one");
  await ov.json("task", "create", "Two", "--id", "two");
  expect(await ov.json("task", "dep", "add", "two", "one")).toMatchObject({ changed: true });
  expect(await ov.json("task", "ready")).toMatchObject({ tasks: [{ id: "one" }] });
  expect(await ov.text("task", "list")).toMatch(/two +2 +blocked by one +task +- +Two/);
  expect(await ov.json("task", "claim", "one", "--by", "ann")).toMatchObject({ task: { claimedBy: "ann" } });
  expect(await ov.text("task", "list")).toMatch(/one +2 +in_progress +task +ann +One/);
  expect(await ov.failure("task", "claim", "one", "--by", "bob")).toMatchObject({ exit: 6 });
  expect(await ov.json("task", "close", "one", "--reason", "done")).toMatchObject({
    task: { status: "closed", closeReason: "done" },
    ready: [{ id: "two" }],
    completedGroups: [],
  });
  expect(await ov.json("task", "list")).toMatchObject({ tasks: [{ id: "two" }] });
  expect(await ov.json("task", "list", "--all")).toMatchObject({ tasks: [{ id: "one" }, { id: "two" }] });
  expect(await ov.json("task", "reopen", "one")).toMatchObject({ task: { status: "open" } });
  expect(await ov.json("task", "dep", "rm", "two", "one")).toMatchObject({ changed: true, task: { blockedBy: [] } });
});

test("updating needs a field, and an empty text empties one", async () => {
  await using world = useCaseWorld();
  const ov = desk(world);
  await ov.json("task", "create", "One", "--id", "one", "--assignee", "eve");
  expect((await ov.failure("task", "update", "one")).exit).toBe(2);
  expect((await ov.failure("task", "update", "one", "--status", "closed")).exit).toBe(2);
  expect(await ov.json("task", "update", "one", "--assignee", "", "--priority", "1")).toMatchObject({
    task: { assignee: null, priority: 1 },
  });
  expect((await ov.failure("task", "show", "noe")).exit).toBe(7);
});

test("L6: a task is shown with what it is part of, and waits only for what is still open", async () => {
  await using world = useCaseWorld();
  const ov = desk(world);
  await ov.json("task", "create", "Top", "--id", "top");
  for (const id of ["a", "b"]) await ov.json("task", "create", id, "--id", id);
  await ov.json("task", "create", "Two", "--id", "two", "--parent", "top", "--blocked-by", "a,b");
  await ov.json("task", "close", "a");
  const text = await ov.text("task", "show", "two");
  expect(text).toMatch(/waits for:?\s+b\n/);
  expect(text).toMatch(/part of:?\s+top/);
  await ov.json("task", "close", "b");
  expect(await ov.text("task", "show", "two")).not.toContain("waits for");
});

test("titles cannot command a person's terminal", async () => {
  await using world = useCaseWorld();
  const ov = desk(world);
  await ov.json("task", "create", "bad \u001b[2J title", "--id", "one", "--description", "\u001b]0;x\u0007");
  for (const argv of [["list"], ["ready"], ["show", "one"]]) {
    const text = await ov.text("task", ...argv);
    expect(text).toContain("\\u{1b}[2J");
    expect(text).not.toContain("\u001b");
  }
});

test("tasks travel through a file, or through a pipe, and back", async () => {
  await using from = useCaseWorld();
  await using to = useCaseWorld();
  const [left, right] = [desk(from), desk(to)];
  await left.json("task", "create", "One", "--id", "one");
  expect(await left.json("task", "export")).toEqual({ path: ".seeds/issues.jsonl", tasks: 1, kept: 0 });
  right.files.set("in.jsonl", left.files.get(".seeds/issues.jsonl") ?? "");
  expect(await right.json("task", "import", "in.jsonl")).toMatchObject({ created: ["one"], unchanged: 0 });
  right.typed = await left.text("task", "export", "-");
  expect(await right.json("task", "import", "-")).toMatchObject({ created: [], unchanged: 1 });
  expect((await right.failure("task", "import")).exit).toBe(2);
  right.files.set(".seeds/issues.jsonl", "<<<<<<< HEAD\n");
  expect((await right.failure("task", "export")).exit).toBe(2);
  expect(right.files.get(".seeds/issues.jsonl")).toBe("<<<<<<< HEAD\n");
});

test("a spec comes from a flag or from standard input, and is printed as it is", async () => {
  await using world = useCaseWorld();
  const ov = desk(world);
  ov.typed = "# Plan\n";
  const path = `${world.dir}/.overstory/specs/t1.md`;
  expect(await ov.json("spec", "write", "t1")).toEqual({ taskId: "t1", path });
  expect(await ov.text("spec", "read", "t1")).toBe("# Plan\n");
  await ov.json("spec", "write", "t1", "--body", "short", "--agent", "ann");
  expect(await ov.json("spec", "read", "t1")).toMatchObject({ taskId: "t1", path, author: "ann", updatedAt: iso });
  ov.typed = undefined;
  expect((await ov.failure("spec", "write", "t1")).exit).toBe(2);
  expect((await ov.failure("spec", "read", "t2")).exit).toBe(7);
});

test("groups answer with the keys scripts know", async () => {
  await using world = useCaseWorld();
  const ov = desk(world);
  expect(await ov.json("group", "list")).toEqual({ groups: [] });
  expect(await ov.json("group", "status")).toEqual({ groups: [] });
  for (const id of ["a", "b"]) await ov.json("task", "create", id, "--id", id);
  const group = {
    id: expect.stringMatching(/^group-[a-z0-9]{8}$/),
    name: "release",
    tasks: ["a"],
    memberIssueIds: ["a"],
    status: "active",
    createdAt: iso,
    completedAt: null,
    owner: "operator",
    runId: null,
  };
  expect(await ov.json("group", "create", "release", "a")).toEqual(group);
  const both = { ...group, tasks: ["a", "b"], memberIssueIds: ["a", "b"] };
  expect(await ov.json("group", "add", "release", "b")).toEqual(both);
  const progress = { total: 2, completed: 0, inProgress: 0, blocked: 0, open: 2 };
  const status = { ...both, group: both, progress, ...progress };
  expect(await ov.json("group", "status", "release")).toEqual(status);
  expect(await ov.json("group", "status")).toEqual({ groups: [status] });
  expect(await ov.json("group", "remove", "release", "b")).toEqual(group);
  expect((await ov.failure("group", "create", "x", "nope")).exit).toBe(7);
  expect(await ov.json("group", "create", "x", "nope", "--skip-validation")).toMatchObject({ name: "x" });
  expect((await ov.json("task", "close", "a")).completedGroups).toMatchObject([{ name: "release" }]);
});

test("without a run the answer is null with a message; with one it has a duration", async () => {
  await using world = useCaseWorld();
  const ov = desk(world);
  expect(await ov.json("run")).toEqual({ run: null, message: "No run is active." });
  expect(await ov.json("run", "list")).toEqual({ runs: [] });
  expect((await ov.failure("run", "complete")).exit).toBe(7);
  await world.store.transaction((tx) =>
    tx.runs.insert({
      id: "run-1",
      objective: "Ship",
      targetBranch: "main",
      landingBranch: "main",
      coordinatorName: null,
      checklist: false,
      startCommit: null,
      status: "active",
      startedAt: world.now() - 60_000,
      completedAt: null,
    }),
  );
  const duration = expect.stringMatching(/^1m \d+s$/);
  const run = {
    id: "run-1",
    startedAt: iso,
    completedAt: null,
    duration,
    agentCount: 0,
    coordinatorId: null,
    coordinatorSessionId: null,
    coordinatorName: null,
    status: "active",
    objective: "Ship",
    targetBranch: "main",
    landingBranch: "main",
    merges: { pending: 0, waitingForApproval: [], failed: [], blocked: [], troubles: [], paused: null },
    criteria: [],
    changes: [],
    lastReview: null,
    leftOpen: [],
  };
  expect(await ov.json("run")).toEqual({ run, duration });
  expect(await ov.json("run", "show", "run-1")).toEqual({ run, duration, agents: [] });
  expect(await ov.json("run", "list", "--last", "1")).toEqual({ runs: [run] });
  expect((await ov.failure("run", "list", "--last", "0")).exit).toBe(2);
  expect(await ov.json("run", "complete")).toEqual({ runId: "run-1", status: "completed" });
  expect((await ov.failure("run", "show", "run-2")).exit).toBe(7);
});
