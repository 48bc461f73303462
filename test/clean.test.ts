import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { linuxProcesses } from "../src/host/processes.ts";
import { aSpending } from "../testkit/contracts/store/spending.ts";
import { makeProject, type TestProject } from "../testkit/project.ts";
import { statePath } from "../testkit/state.ts";
import { change, commit, put, seat } from "../testkit/worktrees-world.ts";

// Each cleans a whole project by a few processes, which takes seconds on a busy machine.
setDefaultTimeout(60_000);

/** A project in which two agents have ended: one landed, one did not, with mail, logs and files about. */
async function lived(): Promise<TestProject> {
  const project = await makeProject({ files: { "a.txt": "a\n", ".gitignore": ".overstory/\n*.log\n" } });
  const landed = await seat(project, "landed");
  await project.git("merge", "--quiet", await commit(project, landed, "l.txt", "l\n"));
  const open = await seat(project, "open");
  await commit(project, open, "o.txt", "o\n");
  put(open, "draft.txt", "d\n");
  put(open, "run.log", "ignored\n");
  await project.json("mail", "send", "--to", "operator", "--subject", "hello", "--body", "first");
  const state = statePath(project.root);
  put(state, "logs/landed/turn/stdout.ndjson", "{}\n");
  put(state, "agents/open/identity.yaml", "x\n");
  put(join(project.root, ".overstory"), "specs/t-1.md", "spec\n");
  put(state, "trash/old/x.log", "x\n");
  return project;
}

function sizeOf(dir: string): number {
  const entries = readdirSync(dir, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

const inState = (project: TestProject, dir: string): readonly string[] => {
  const inCheckout = dir === "worktrees" || dir === "specs";
  const home = inCheckout ? join(project.root, ".overstory") : statePath(project.root);
  return readdirSync(join(home, dir)).toSorted();
};

describe("ov clean", () => {
  test("needs to know what, and takes one agent or all, not both", async () => {
    await using project = await makeProject();
    expect((await project.ov("clean")).code).toBe(2);
    expect(await project.ov("clean", "--agent", "ann", "--all")).toMatchObject({
      code: 2,
      err: expect.stringContaining("mutually exclusive"),
    });
    expect((await project.ov("clean", "--agent", "nobody")).code).toBe(7);
  });

  test("finds nothing in a fresh project and makes no database", async () => {
    await using project = await makeProject();
    expect(await project.json("clean", "--all", "--yes")).toMatchObject({ worktreesCleaned: 0, backup: null });
    expect(existsSync(statePath(project.root, "overstory.db"))).toBe(false);
    expect(existsSync(statePath(project.root, "backups"))).toBe(false);
  });

  test("refuses while an agent is live, and says how to stop it", async () => {
    await using project = await makeProject();
    const path = await seat(project, "ann", { state: "between_turns", outcome: null, endedAt: null });
    const { code, err } = await project.ov("clean", "--all", "--yes");
    expect(code).toBe(6);
    expect(err).toContain("ov stop ann");
    expect(err).not.toContain("again in a moment");
    expect(existsSync(path)).toBe(true);
  });

  test("--dry-run shows its plan also while an agent is live: what is that agent's stays", async () => {
    await using project = await lived();
    await seat(project, "ann", { state: "between_turns", outcome: null, endedAt: null });
    const planned = await project.json("clean", "--all", "--dry-run", "--force");
    expect(planned).toMatchObject({
      dryRun: true,
      live: ["ann"],
      plan: { sessions: ["landed", "open"], branches: ["overstory/landed/t-1", "overstory/open/t-1"] },
      keptWorktrees: [{ agentName: "ann", class: "running", next: "ov stop ann" }],
      keptBranches: ["overstory/ann/t-1"],
    });
    const shown = await project.ov("clean", "--all", "--dry-run");
    expect(shown.code).toBe(0);
    expect(shown.out).toContain("ann is live: nothing is cleaned before it has ended");
    expect(shown.out).toContain("ov stop ann");
    expect(inState(project, "worktrees")).toEqual(["ann", "landed", "open"]);
  });

  test.each([[["--worktrees"]], [["--worktrees", "--force"]], [["--all"]], [["--all", "--force"]], [["--branches"]]])(
    "%p deletes exactly the branches that its plan names",
    async (flags) => {
      await using project = await lived();
      const { plan } = await project.json("clean", ...flags, "--dry-run");
      const branches = async (): Promise<readonly string[]> =>
        (await project.git("for-each-ref", "--format=%(refname:short)", "refs/heads/overstory")).trim().split("\n");
      const before = await branches();
      await project.json("clean", ...flags, "--yes");
      const left = await branches();
      expect(plan).toMatchObject({ branches: before.filter((branch) => !left.includes(branch)) });
    },
  );

  test("--dry-run shows the plan and touches nothing", async () => {
    await using project = await lived();
    const before = await project.git("for-each-ref");
    const planned = await project.json("clean", "--all", "--dry-run");
    expect(planned).toMatchObject({
      dryRun: true,
      plan: { messages: 1, dirs: ["logs", "agents", "specs", "trash"], sessions: ["landed", "open"], endRuns: true },
      keptBranches: ["overstory/open/t-1"],
    });
    expect(await project.git("for-each-ref")).toBe(before);
    expect(inState(project, "worktrees")).toEqual(["landed", "open"]);
    const { out } = await project.ov("clean", "--all", "--dry-run");
    expect(out).toContain("worktree overstory/open/t-1 (dirty, saved first)");
    expect(out).toMatch(/^Ends run run-\S+?(?:, with this left open:)?$/m);
    expect(out).not.toContain("- run ");
  });

  test("--all asks first, and where nobody can be asked it needs --yes", async () => {
    await using project = await lived();
    const refused = await project.ov("clean", "--all");
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
    expect(inState(project, "worktrees")).toEqual(["landed", "open"]);
  });

  test("--all removes what it says, keeps unmerged branches, archives agents, and finds nothing the second time", async () => {
    await using project = await lived();
    const done = await project.json("clean", "--all", "--yes");
    expect(done).toMatchObject({
      worktreesCleaned: 2,
      branchesDeleted: 1,
      mailWiped: true,
      sessionsCleared: true,
      logsCleared: true,
      agentsCleared: true,
      specsCleared: true,
      trashCleared: true,
      currentRunCleared: true,
    });
    for (const dir of ["worktrees", "logs", "agents", "specs", "trash"]) expect(inState(project, dir)).toEqual([]);
    expect(
      (await project.git("for-each-ref", "--format=%(refname)", "refs/heads", "refs/overstory/rescue")).trim(),
    ).toBe("refs/heads/main\nrefs/heads/overstory/open/t-1\nrefs/overstory/rescue/open-1");
    expect(await project.git("show", "refs/overstory/rescue/open-1:draft.txt")).toBe("d\n");
    expect(await project.agent("open")).toMatchObject({
      state: "completed",
      outcome: "done",
      releasedAt: expect.any(Number),
    });
    const again = await project.ov("clean", "--all", "--yes");
    expect(again.code).toBe(0);
    expect(again.out).toContain("Nothing to clean.");
    expect(again.out).toContain("overstory/open/t-1 stays");
    expect(inState(project, "backups")).toHaveLength(1);
  });

  test("what a clean removed comes back with --restore", async () => {
    await using project = await lived();
    const tip = (await project.git("rev-parse", "overstory/open/t-1")).trim();
    const done = await project.json("clean", "--all", "--yes", "--force");
    expect(await project.git("branch", "--list", "overstory/*")).toBe("");
    const { name, path } = done.backup as { name: string; path: string };
    expect(readdirSync(join(project.root, path)).toSorted()).toEqual([
      "agents",
      "branches.bundle",
      "overstory.db.gz",
      "specs",
      "trash",
    ]);
    const restored = await project.json("clean", "--restore", name);
    expect(restored.refs).toContain("refs/heads/overstory/open/t-1");
    expect((await project.git("rev-parse", "overstory/open/t-1")).trim()).toBe(tip);
    expect((await project.json("mail", "list", "--from", "operator")).messages).toHaveLength(1);
    expect(readFileSync(join(project.root, ".overstory", "specs", "t-1.md"), "utf8")).toBe("spec\n");
    expect((await project.ov("clean", "--restore", "yesterday")).code).toBe(2);
  });

  test("a clean leaves less than there was, and of many cleans few copies of the database but every deleted branch", async () => {
    await using project = await lived();
    const state = statePath(project.root, "");
    put(state, "logs/open/turn/stdout.ndjson", "x".repeat(200_000));
    for (let i = 0; i < 200; i++) {
      await change(project, async (tx) => {
        const [message] = await tx.messages.list({ limit: 1 });
        if (message === undefined) throw new Error("no mail");
        await tx.messages.insert({ ...message, id: `m${i}`, dedupeKey: null, body: `${i} `.repeat(1500) });
      });
    }
    const before = sizeOf(state);
    await project.json("clean", "--all", "--yes", "--force");
    expect(sizeOf(state)).toBeLessThan(before / 2);
    for (let i = 0; i < 4; i++) {
      await project.git("branch", `overstory/again/${i}`, "main");
      await project.json("clean", "--branches", "--force");
    }
    const backups = inState(project, "backups");
    expect(backups).toHaveLength(5);
    const has = (file: string): number =>
      backups.filter((name) => existsSync(join(state, "backups", name, file))).length;
    expect([has("overstory.db.gz"), has("branches.bundle")]).toEqual([3, 5]);
    await project.json("clean", "--restore", backups[0] ?? "");
    expect(await project.git("branch", "--list", "overstory/open/*")).toContain("overstory/open/t-1");
  }, 60_000);

  test("--agent removes what belongs to one agent and leaves the others alone", async () => {
    await using project = await lived();
    const done = await project.json("clean", "--agent", "landed");
    expect(done.agent).toEqual({
      agentName: "landed",
      worktreeRemoved: true,
      branchDeleted: true,
      agentDirCleared: false,
      logsDirCleared: true,
      markedCompleted: false,
      released: true,
    });
    expect(inState(project, "worktrees")).toEqual(["open"]);
    expect(inState(project, "agents")).toEqual(["open"]);
    expect(existsSync(join(project.root, ".overstory", "specs", "t-1.md"))).toBe(true);
  });

  test("takes a link away that stands in the place of a directory, and nothing behind it", async () => {
    await using project = await lived();
    const outside = join(project.home, "outside");
    put(outside, "keep.md", "precious\n");
    for (const dir of [join(project.root, ".overstory", "specs"), statePath(project.root, "logs")]) {
      rmSync(dir, { recursive: true });
      symlinkSync(outside, dir);
    }
    await project.json("clean", "--specs", "--logs");
    expect(readdirSync(outside)).toEqual(["keep.md"]);
    expect(existsSync(join(project.root, ".overstory", "specs"))).toBe(false);
  });

  test("single targets leave everything else alone", async () => {
    await using project = await lived();
    await project.json("clean", "--logs");
    expect(inState(project, "logs")).toEqual([]);
    expect(inState(project, "specs")).toEqual(["t-1.md"]);
    await project.json("clean", "--mail");
    expect((await project.json("mail", "list", "--from", "operator")).messages).toEqual([]);
    expect(await project.agent("open")).toMatchObject({ releasedAt: null });
    await project.json("clean", "--sessions");
    expect(await project.agent("open")).toMatchObject({ state: "completed", releasedAt: expect.any(Number) });
  });

  test("--branches takes landed branches without a worktree; the others only by force", async () => {
    await using project = await lived();
    expect(await project.json("clean", "--branches")).toMatchObject({
      branchesDeleted: 0,
      keptBranches: ["overstory/landed/t-1", "overstory/open/t-1"],
    });
    expect(await project.json("clean", "--worktrees")).toMatchObject({ worktreesCleaned: 2, branchesDeleted: 1 });
    expect(await project.json("clean", "--branches")).toMatchObject({ keptBranches: ["overstory/open/t-1"] });
    expect(await project.json("clean", "--branches", "--force")).toMatchObject({ branchesDeleted: 1 });
    expect(await project.git("branch", "--list", "overstory/*")).toBe("");
  });

  test("--metrics deletes what turns have used", async () => {
    await using project = await lived();
    const usage = { turnId: "turn-1", messageId: "m", agentName: "open", runId: "run-1", taskId: null, model: null };
    const spent = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, createdAt: 1 };
    await change(project, (tx) => tx.usage.record({ ...usage, ...spent }));
    expect(await project.json("clean", "--metrics")).toMatchObject({ metricsWiped: true });
    expect(await project.read((tx) => tx.usage.ofTurn("turn-1"))).toEqual([]);
    expect(await project.json("clean", "--metrics")).toMatchObject({ metricsWiped: false });
  });

  test("--events deletes what happened, --metrics what it cost, and both come back", async () => {
    await using project = await lived();
    await change(project, async (tx) => {
      await tx.spending.book([aSpending("turn-1")]);
      await tx.events.append([{ source: "agent", type: "text", agentName: "open", createdAt: 1 }]);
    });
    const kinds = async (): Promise<Set<string>> =>
      new Set((await project.read((tx) => tx.events.after(0, 1_000))).map(({ type }) => type));
    const sums = () => project.read((tx) => tx.spending.sums("agent", {}, 9));
    const before = await sums();
    expect((await kinds()).has("text")).toBe(true);
    const cleaned = await project.json("clean", "--events", "--metrics");
    expect(cleaned).toMatchObject({ plan: { events: expect.any(Number) }, metricsWiped: true });
    expect([await kinds(), await sums()]).toEqual([new Set(["cleaned"]), []]);
    expect((await project.ov("clean", "--events")).out).toContain("Nothing to clean.");
    const { name } = cleaned.backup as { name: string };
    await project.json("clean", "--restore", name);
    expect([(await kinds()).has("text"), await sums()]).toEqual([true, before]);
  });

  test("--rescue deletes saved work, but not from the backup", async () => {
    await using project = await lived();
    await project.json("worktree", "clean", "--force");
    const saved = (await project.git("rev-parse", "refs/overstory/rescue/open-1")).trim();
    const done = await project.json("clean", "--rescue");
    expect(done).toMatchObject({ rescueRefsDeleted: 1 });
    expect(await project.git("for-each-ref", "refs/overstory/rescue")).toBe("");
    await project.json("clean", "--restore", (done.backup as { name: string }).name);
    expect((await project.git("rev-parse", "refs/overstory/rescue/open-1")).trim()).toBe(saved);
  });

  const commands = { "worktree clean": ["worktree", "clean"], clean: ["clean", "--worktrees"] };
  test.each(Object.entries(commands))(
    "`ov %s` first ends what the agent left running, and nobody else's",
    async (_, words) => {
      await using project = await lived();
      const worktree = join(project.root, ".overstory", "worktrees", "open");
      await using server = await startServer(worktree, { OVERSTORY_SESSION_ID: "agent-open" });
      await using stranger = await startServer(project.root, { OVERSTORY_SESSION_ID: "agent-opener" });
      await project.json(...words, "--force");
      expect([isAlive(server.pid), isAlive(stranger.pid)]).toEqual([false, true]);
      expect(await project.git("show", "refs/overstory/rescue/open-1:last.txt")).toBe("bye\n");
    },
  );
});

/** Writes a last word where it runs when it is asked to end. */
async function startServer(cwd: string, env: Record<string, string>): Promise<AsyncDisposable & { pid: number }> {
  const script = "trap 'echo bye > last.txt; exit' TERM; echo ready; while :; do sleep 0.02; done";
  const child = Bun.spawn({ cmd: ["/bin/sh", "-c", script], cwd, env, stdio: ["ignore", "pipe", "ignore"] });
  await child.stdout.getReader().read();
  return {
    pid: child.pid,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

function isAlive(pid: number): boolean {
  const identity = linuxProcesses.identify(pid);
  return identity !== undefined && linuxProcesses.check(identity) === "alive";
}
