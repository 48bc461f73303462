import { expect, test } from "bun:test";
import { builderBranch, type MergeWorld, mergeWorld } from "../../../../../testkit/merge-queue-world.ts";
import { type Caller, operator } from "../../../../domain/caller/caller.ts";
import type { GateResult, Receipt } from "../../../../domain/gate/gate.ts";
import { type MergeEntry, mergeRef } from "../../../../domain/merge/entry.ts";
import { notFound } from "../../../../domain/refusal.ts";
import { no, ok } from "../../../../domain/result.ts";
import { catalog, type UseCaseName } from "../../../../usecases/catalog.ts";
import { newOp } from "../../../../usecases/merge/new-op.ts";
import { landed } from "../../../../usecases/merge/settle-landing.ts";
import { settlePromotion } from "../../../../usecases/merge/settle-promotion.ts";
import { rejected } from "../../../../usecases/merge/settle-rejection.ts";
import { undone } from "../../../../usecases/merge/settle-undo.ts";
import type { UseCase } from "../../../../usecases/usecase.ts";
import type { App } from "../../app.ts";
import type { MergeFacet } from "../../facets/merge.ts";
import { runCli } from "../../run.ts";
import type { Sink } from "../../sink.ts";
import { gateCommand } from "../gate/tree.ts";
import { runCommand } from "../run/tree.ts";
import { statusCommand } from "../status/tree.ts";
import { mergeCommand } from "./tree.ts";

const tree = { name: "ov", summary: "", commands: [mergeCommand, gateCommand, runCommand, statusCommand] };

interface Desk {
  run(...argv: string[]): Promise<{ exit: number; out: string; err: string }>;
  /** The one document of a command, whatever its end. */
  json(...argv: string[]): Promise<{ exit: number; document: Record<string, unknown> }>;
  /** What the engine does while somebody waits; without it, waiting is a mistake of the test. */
  engine: (() => Promise<void>) | undefined;
  answer: boolean | undefined;
  readonly heads: Map<string, string>;
}

/** The real commands over the real use cases; git and the engine are played. */
function desk(world: MergeWorld, caller: Caller = operator): Desk {
  const heads = new Map([
    ["main", "m0"],
    [builderBranch, "head-1"],
    ["feature", "f1"],
  ]);
  const merges: MergeFacet = {
    head: async (branch) => {
      const head = heads.get(branch);
      return head === undefined ? no(notFound("branch", branch)) : ok(head);
    },
    branches: async () => [...heads.keys()],
    changedFiles: async () => ["a.ts"],
    predict: async ({ candidates }) => candidates.map(() => ({ ...cleanly, gatesLikely: ["Tests"] })),
    patch: async ({ branch }) => ok(`patch of ${branch}\n`),
  };
  const app = {
    version: "0",
    notices: async () => [],
    call: async (name: UseCaseName, request: unknown) =>
      world.call((await catalog[name]()) as UseCase<unknown, unknown>, request, { caller }),
    engine: { status: () => undefined },
    files: { readText: async (path: string) => ok(path.endsWith("gone.log") ? undefined : "one\n\u001b[2Jtwo\n") },
    merges: async () => merges,
    worktrees: async () => ({ confirm: async () => made.answer, restOf: async () => ok(undefined) }),
    until: async <T>(ask: () => Promise<T | undefined>): Promise<T> => {
      for (let round = 0; round < 5; round++) {
        const answer = await ask();
        if (answer !== undefined) return answer;
        if (made.engine === undefined) throw new Error("it waits, and nothing would ever happen");
        await made.engine();
      }
      throw new Error("it waits for ever");
    },
  } as unknown as App;
  const run: Desk["run"] = async (...argv) => {
    const texts = { out: "", err: "" };
    const sink = (to: "out" | "err"): Sink => ({
      write: (text) => {
        texts[to] += text;
        return "written";
      },
      isTTY: () => false,
      columns: () => undefined,
    });
    const io = { stdout: sink("out"), stderr: sink("err"), stdin: async () => undefined };
    const exit = await runCli({ argv, env: {}, tree, version: "0", makeApp: () => app, ...io });
    return { exit, ...texts };
  };
  const made: Desk = {
    run,
    json: async (...argv) => {
      const { exit, out } = await run(...argv, "--json");
      expect(out.trim().split("\n")).toHaveLength(1);
      return { exit, document: JSON.parse(out) };
    },
    engine: undefined,
    answer: undefined,
    heads,
  };
  return made;
}

const cleanly = {
  predictedTier: "clean-merge",
  conflictFiles: [],
  wouldRequireAgent: false,
  reason: "merges without conflicts",
  strategy: null,
  cause: null,
} as const;

/** What the engine does when everything is well. */
const lands =
  (world: MergeWorld, ...ids: readonly number[]) =>
  (): Promise<void> =>
    world.asEngine(async (tx, context) => {
      const entries: MergeEntry[] = (await tx.merges.list({ statuses: ["pending"] })).filter(
        ({ id, approval }) => approval !== "waiting" && (ids.length === 0 || ids.includes(id)),
      );
      if (entries.length === 0) return;
      const queueIds = entries.map(({ id }) => id);
      const op = await newOp(tx, context, { kind: "land", ref: "refs/heads/main", queueIds });
      await landed(tx, context, {
        opId: op.id,
        entries: entries.map((entry) => ({
          entry,
          tier: "clean-merge",
          strategy: null,
          verdict: "verified",
          commit: `result-${entry.id}`,
        })),
      });
      await tx.mergeOps.settle(op.id, {
        status: "done",
        beforeCommit: "m0",
        afterCommit: "m1",
        updatedAt: context.now,
      });
    });

const conflicts =
  (world: MergeWorld): (() => Promise<void>) =>
  () =>
    world.asEngine(async (tx, context) => {
      for (const entry of await tx.merges.list({ statuses: ["pending"] })) {
        const detail = { message: "a.ts: both sides changed one line", files: ["a.ts"] };
        await rejected(tx, context, entry, { status: "conflict", cause: "conflict", detail });
      }
    });

test("neither a branch nor --all is a mistake of usage", async () => {
  await using world = await mergeWorld();
  const { exit, document } = await desk(world).json("merge");
  expect({ exit, document }).toMatchObject({
    exit: 2,
    document: { success: false, code: "VALIDATION_ERROR", details: { field: "--branch or --all" } },
  });
});

test("merging a branch approves it, waits for the engine and answers in the shape scripts know", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  ov.engine = lands(world);
  const { exit, document } = await ov.json("merge", "--branch", "feature");
  expect(exit).toBe(0);
  expect(document).toMatchObject({
    success: true,
    command: "merge",
    tier: "clean-merge",
    conflictFiles: [],
    errorMessage: null,
    warnings: [],
    entry: {
      branchName: "feature",
      status: "merged",
      resolvedTier: "clean-merge",
      filesModified: ["a.ts"],
      approval: "operator",
      verdict: "verified",
    },
  });
});

test("a conflict is one document, exit code 4, and names the files", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  ov.engine = conflicts(world);
  const { exit, document } = await ov.json("merge", "--branch", "feature");
  expect(exit).toBe(4);
  expect(document).toMatchObject({
    success: false,
    tier: "auto-resolve",
    conflictFiles: ["a.ts"],
    errorMessage: "a.ts: both sides changed one line",
    entry: { status: "conflict", cause: "conflict" },
  });
  const { exit: again, out } = await ov.run("merge", "--branch", "feature");
  expect(again).toBe(4);
  expect(out).toContain("Failed: feature unverified");
  expect(out).toContain("ov merge retry 2");
});

test("a branch that git does not know is not found, and nothing is written", async () => {
  await using world = await mergeWorld();
  for (const more of [
    ["--branch", "nope"],
    ["--branch", "feature", "--into", "nope"],
    ["--all", "--into", "nope"],
  ]) {
    const { exit, document } = await desk(world).json("merge", ...more);
    expect({ exit, error: document.error }).toEqual({ exit: 7, error: 'no branch "nope"; nothing was changed' });
  }
  expect((await desk(world).json("merge", "--branch", "main")).exit).toBe(2);
  expect(await world.entries()).toEqual([]);
});

test("what was contained already succeeds with a note", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  ov.engine = () =>
    world.asEngine(async (tx, context) => {
      const [entry] = await tx.merges.list({ statuses: ["pending"] });
      if (entry === undefined) return;
      const one = { entry, tier: "clean-merge", strategy: null, verdict: "unverified", commit: "m0" } as const;
      await landed(tx, context, { opId: null, entries: [one] });
    });
  const { exit, document } = await ov.json("merge", "--branch", "feature");
  expect({ exit, success: document.success }).toEqual({ exit: 0, success: true });
  expect(document.warnings).toEqual(["main had everything of feature already; nothing was changed"]);
});

test("nobody waits for what only the operator can move", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const ov = desk(world, world.lead);
  const { exit, document } = await ov.json("merge", "--branch", builderBranch);
  expect({ exit, success: document.success }).toEqual({ exit: 4, success: false });
  expect(document.errorMessage).toBe("it waits for the operator's approval");
  expect(document.entry).toMatchObject({ status: "pending", awaitingApproval: true });
});

test("a merge that waits for one that failed is not waited for", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  ov.engine = conflicts(world);
  const first = (await ov.json("merge", "--branch", builderBranch)).document.entry as { id: number };
  await ov.json("merge", "add", "feature", "--depends-on", String(first.id));
  ov.engine = undefined;
  const { exit, document } = await ov.json("merge", "--branch", "feature");
  expect(exit).toBe(4);
  expect(document.errorMessage).toBe(`it waits for #${first.id}, which did not land`);
});

test("all approves what waits and tells each result; one failure decides the exit code", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const ov = desk(world);
  expect(await ov.json("merge", "--all")).toEqual({
    exit: 0,
    document: { success: true, command: "merge", results: [], count: 0 },
  });
  const one = await world.announce();
  await ov.json("merge", "add", "feature");
  ov.engine = async () => {
    await lands(world, one.id)();
    await conflicts(world)();
  };
  const { exit, document } = await ov.json("merge", "--all");
  expect(exit).toBe(4);
  expect(document).toMatchObject({ success: false, count: 2, successCount: 1, failCount: 1 });
  expect(document.results).toMatchObject([
    { success: true, entry: { branchName: builderBranch } },
    { success: false, entry: { branchName: "feature", cause: "conflict" } },
  ]);
});

test("a dry run predicts and writes nothing", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  const before = await world.store.read((tx) => tx.events.after(0, 1000));
  const { exit, document } = await ov.json("merge", "--branch", "feature", "--dry-run");
  expect(exit).toBe(0);
  expect(document).toMatchObject({
    success: true,
    branchName: "feature",
    id: null,
    status: "pending",
    targetBranch: "main",
    filesModified: ["a.ts"],
    prediction: { ...cleanly, gatesLikely: ["Tests"] },
  });
  expect(await ov.json("merge", "--all", "--dry-run")).toMatchObject({ document: { entries: [], count: 0 } });
  expect(await world.entries()).toEqual([]);
  expect(await world.store.read((tx) => tx.events.after(0, 1000))).toEqual(before);
  const one = await world.announce();
  expect((await ov.json("merge", "--all", "--dry-run")).document.entries).toMatchObject([
    { id: one.id, branchName: builderBranch, prediction: { predictedTier: "clean-merge" } },
  ]);
});

test("a branch that waits for approval says so everywhere, with the command to type", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const ov = desk(world);
  const { id } = await world.announce();
  const approve = `ov merge approve ${id}`;
  for (const line of [["merge", "list"], ["merge", "show", String(id)], ["merge", "plan"], ["status"], ["run"]]) {
    const { out } = await ov.run(...line);
    expect({ line, out }).toEqual({ line, out: expect.stringContaining(approve) });
  }
  for (const line of [
    ["merge", "list"],
    ["merge", "show", builderBranch],
  ]) {
    const { out } = await ov.run(...line);
    expect({ line, out }).toEqual({ line, out: expect.stringContaining("unverified") });
  }
  const { document } = await ov.json("status");
  expect(document).toMatchObject({
    mergeQueueCount: 1,
    needsOperator: true,
    merges: { pending: 1, waitingForApproval: [id], failed: [] },
  });
  expect((await ov.json("run")).document.run).toMatchObject({ status: "needs operator" });
  expect(await ov.json("merge", "approve", String(id))).toMatchObject({ exit: 0, document: { count: 1 } });
  expect((await ov.json("status")).document).toMatchObject({ needsOperator: false });
  await conflicts(world)();
  expect((await ov.json("status")).document).toMatchObject({ merges: { pending: 0, failed: [id] } });
});

test("where a person says when, a branch that its parent approved says what it waits for", async () => {
  await using world = await mergeWorld({ mode: "manual" });
  const { id } = await world.announce();
  expect((await desk(world).run("merge", "list")).out).toContain(`waits until you say when: ov merge approve ${id}`);
});

test("the plan is the order of landing, and says what is not ready and why", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  const one = await world.announce();
  await ov.json("merge", "add", "feature", "--priority", "0");
  const { document } = await ov.json("merge", "plan");
  expect(document.entries).toMatchObject([{ id: one.id, prediction: cleanly }]);
  expect(document.waiting).toMatchObject([
    { branchName: "feature", priority: 0, why: "it waits for the operator's approval" },
  ]);
});

test("an agent may not approve", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const { id } = await world.announce();
  const answer = await world.callAs("lead-1", "merge.approve", { of: String(id) });
  expect(answer).toMatchObject({ ok: false, refusal: { kind: "not-allowed" } });
});

test("reject, cancel, retry and resume tell the new status", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  const { id } = await world.announce();
  const status = async (...argv: string[]) => {
    const { exit, document } = await ov.json("merge", ...argv);
    return exit === 0 ? (document.entry as { status: string }).status : exit;
  };
  expect(await status("reject", String(id))).toBe(2);
  expect(await status("reject", builderBranch, "--reason", "not like this")).toBe("failed");
  expect(await status("retry", String(id))).toBe("pending");
  expect(await status("resume", String(id))).toBe(2);
  expect(await status("cancel", `#${id}`)).toBe("cancelled");
  expect(await status("show", "99")).toBe(7);
});

test("undo shows what it takes back, needs a yes, and waits for the engine", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  expect((await ov.json("merge", "undo", "--last", "--yes")).exit).toBe(7);
  expect((await ov.json("merge", "undo")).exit).toBe(2);
  ov.engine = lands(world);
  await ov.json("merge", "--branch", "feature");
  ov.engine = undefined;
  expect((await ov.json("merge", "undo", "feature")).exit).toBe(2);
  ov.answer = false;
  const refused = await ov.run("merge", "undo", "feature");
  expect(refused).toMatchObject({ exit: 0, out: "Nothing was changed.\n" });
  expect(refused.err).toContain("- feature verified");
  expect((await world.entries()).map(({ status }) => status)).toEqual(["merged"]);
  ov.engine = () => takesBack(world);
  ov.answer = true;
  const { exit, out } = await ov.run("merge", "undo", "feature");
  expect({ exit, out }).toMatchObject({ exit: 0, out: expect.stringContaining("Took feature out of main") });
  expect((await world.entries()).map(({ status }) => status)).toEqual(["reverted"]);
  const log = await ov.run("merge", "log");
  expect(log.out).toMatch(/undid +\S+\n +on main/);
  expect(log.out).toContain("taken back by");
  expect(log.out.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(log.out).not.toMatch(/\d{4}-\d\d-\d\dT/);
  const undoId = /ov merge undo (op-\S+)/.exec(out)?.[1] ?? "";
  const back = await ov.run("merge", "undo", undoId, "--yes");
  expect(back.err).toContain("Brings back to main");
  expect(back.out).toContain("Brought feature back to main");
});

test("what is no number and no branch of the queue is a mistake of usage", async () => {
  await using world = await mergeWorld();
  expect((await desk(world).json("merge", "approve", "abc")).exit).toBe(2);
  expect((await desk(world).json("merge", "approve", "99")).exit).toBe(7);
});

test("an undo that would conflict ends with exit code 4 and the problem", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  ov.engine = lands(world);
  await ov.json("merge", "--branch", "feature");
  const problem = "what came later touches the same lines as feature: a.ts";
  ov.engine = () =>
    world.asEngine(async (tx, { now }) => {
      const [op] = await tx.mergeOps.list({ kind: "undo", status: "intended" });
      if (op !== undefined) await tx.mergeOps.settle(op.id, { status: "dropped", problem, updatedAt: now });
    });
  const { exit, document } = await ov.json("merge", "undo", "--last", "--yes");
  expect({ exit, document }).toMatchObject({ exit: 4, document: { success: false, errorMessage: problem } });
});

test("promote waits for the engine and tells which files are in the way", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  const nothing = await ov.json("merge", "promote");
  expect(nothing).toMatchObject({ exit: 0, document: { success: true, promote: null, moved: false } });
  const landingBranch = "overstory/integration/run-2";
  await world.store.transaction((tx) => tx.runs.setBranches("run-2", { targetBranch: "main", landingBranch }));
  const problem = "local_changes: these files in the checkout of main are in the way: a.ts";
  const settles = (end: Parameters<typeof settlePromotion>[3]) => () =>
    world.asEngine(async (tx, context) => {
      const [op] = await tx.mergeOps.list({ kind: "promote", status: "intended" });
      if (op !== undefined) await settlePromotion(tx, context, op, end);
    });
  ov.engine = settles({ status: "dropped", problem });
  expect(await ov.json("merge", "promote")).toMatchObject({
    exit: 4,
    document: { success: false, errorMessage: problem, targetBranch: "main" },
  });
  const request = { landing: landingBranch, target: "main", cause: "disk_full" } as const;
  ov.engine = settles({ status: "dropped", problem: "there is no room for its new files", request });
  expect(await ov.json("merge", "promote")).toMatchObject({
    exit: 6,
    document: { success: false, cause: "disk_full" },
  });
  ov.engine = settles({ status: "done", problem: null, beforeCommit: "m0", afterCommit: "m1" });
  expect(await ov.json("merge", "promote", "--run", "run-2")).toMatchObject({
    exit: 0,
    document: { success: true, moved: true, landingBranch },
  });
});

test("a diff is the patch as it is", async () => {
  await using world = await mergeWorld();
  const { id } = await world.announce();
  expect((await desk(world).run("merge", "diff", String(id))).out).toBe(`patch of ${builderBranch}\n`);
});

test("gates: results, their output with control bytes made visible, and the evidence of a landing", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  expect((await ov.run("gate", "list")).out).toContain("No gate has run yet.");
  const entry = await world.announce();
  await world.store.transaction(async (tx) => {
    await tx.gates.add(aResult("g-1", { logPath: "/logs/tests.log" }));
    await tx.gates.add(aResult("g-2", { gate: "Lint", status: "failed", exitCode: 1, logPath: "/logs/gone.log" }));
    await tx.receipts.add(aReceipt("rc-1", entry));
  });
  expect((await ov.json("gate", "list", "--gate", "Lint")).document.results).toMatchObject([
    { id: "g-2", exitCode: 1 },
  ]);
  expect((await ov.run("gate", "log", "g-1")).out).toBe("one\n\\u{1b}[2Jtwo\n");
  expect(await ov.json("gate", "log", "g-2")).toMatchObject({ exit: 7, document: { success: false, log: null } });
  expect((await ov.json("gate", "log", "none")).exit).toBe(7);
  for (const of of ["rc-1", String(entry.id), builderBranch]) {
    const { out } = await ov.run("gate", "show", of);
    for (const part of [
      "verified with gaps",
      "base-1",
      "head-1",
      "tree-1",
      "npm test",
      "exit 0",
      "node_modules",
      "d1",
    ]) {
      expect({ of, out }).toEqual({ of, out: expect.stringContaining(part) });
    }
  }
});

const takesBack = (world: MergeWorld): Promise<void> =>
  world.asEngine(async (tx, context) => {
    const [op] = await tx.mergeOps.list({ kind: "undo", status: "intended" });
    if (op !== undefined) await undone(tx, context, { op, beforeCommit: "m1", afterCommit: "m0" });
  });

const aResult = (id: string, facts: Partial<GateResult>): GateResult => ({
  id,
  tree: "tree-1",
  gate: "Tests",
  command: "npm test",
  gateHash: "h1",
  status: "passed",
  exitCode: 0,
  durationMs: 1500,
  logPath: "",
  logDigest: "d1",
  flaky: false,
  kept: ["node_modules"],
  createdAt: 1,
  ...facts,
});

const aReceipt = (id: string, entry: MergeEntry): Receipt => ({
  id,
  kind: "landing",
  subject: mergeRef(entry.id),
  baseCommit: "base-1",
  headCommit: "head-1",
  tree: "tree-1",
  verdict: "verified_with_gaps",
  results: ["g-1"],
  gaps: ["Lint was left out"],
  createdAt: 2,
});
