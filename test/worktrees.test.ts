import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { randomIds } from "../src/host/ids.ts";
import { linuxProcesses } from "../src/host/processes.ts";
import { makeProject } from "../testkit/project.ts";
import { statePath } from "../testkit/state.ts";
import { change, commit, put, seat, typed } from "../testkit/worktrees-world.ts";

/** Reserved, with its seat still being made. */
const booting = { state: "booting", outcome: null, endedAt: null, worktreePath: null } as const;

describe("ov worktree list", () => {
  test("names each worktree with its agent, state and task, and hides other branches", async () => {
    await using project = await makeProject();
    const path = await seat(project, "ann", { taskId: null, state: "between_turns", endedAt: null, outcome: null });
    await project.git("worktree", "add", "--quiet", "-b", "mine", join(project.root, "..", "mine"));
    await project.git("worktree", "add", "--quiet", "-b", "overstory/lost/t", join(project.root, "..", "lost"));
    const head = (await project.git("rev-parse", "HEAD")).trim();
    const { worktrees } = await project.json("worktree", "list");
    const lost = join(project.root, "..", "lost");
    const same = { head, taskId: null, kind: "linked", exists: true, mergeStatus: null, verdict: "unverified" };
    expect(worktrees).toEqual([
      { ...same, path: lost, branch: "overstory/lost/t", agentName: null, state: null },
      { ...same, path, branch: "overstory/ann/t-1", agentName: "ann", state: "between_turns" },
    ]);
    expect((await project.ov("worktree", "list")).out).toContain("Agent: ? | State: unknown | Task: ?");
  });

  test("in a project without agents it says so and makes no database", async () => {
    await using project = await makeProject();
    const listed = await project.ov("worktree", "list");
    expect(listed).toMatchObject({ code: 0, out: expect.stringContaining("No worktrees of agents") });
    expect(existsSync(statePath(project.root, "overstory.db"))).toBe(false);
  });
});

describe("ov worktree clean", () => {
  test("dirty, unmerged and running stay, each with its reason; squash-merged goes with its branch", async () => {
    await using project = await makeProject({ files: { "a.txt": "a\n", ".gitignore": ".overstory/\n*.log\n" } });
    const dirty = await seat(project, "dirty");
    put(dirty, "draft.txt", "d\n");
    const unmerged = await seat(project, "unmerged");
    await commit(project, unmerged, "u.txt", "u\n");
    const running = await seat(project, "running", { state: "between_turns", outcome: null, endedAt: null });
    const squashed = await seat(project, "squashed");
    await commit(project, squashed, "s1.txt", "1\n");
    const tip = await commit(project, squashed, "s2.txt", "2\n");
    put(squashed, "trace.log", "kept in the trash\n");
    await project.git("merge", "--quiet", "--squash", tip);
    await project.git("commit", "--quiet", "-m", "squashed");

    const first = await project.json("worktree", "clean");
    expect(first).toMatchObject({
      cleaned: ["overstory/squashed/t-1"],
      skipped: ["overstory/dirty/t-1", "overstory/unmerged/t-1"],
      failed: [],
      blockedByChildren: [],
      mailPurged: 0,
      reasons: [
        { class: "dirty", next: "ov worktree clean --force" },
        { class: "unmerged", next: "ov merge --branch overstory/unmerged/t-1" },
      ],
    });
    expect([dirty, unmerged, running, squashed].map((path) => existsSync(path))).toEqual([true, true, true, false]);
    expect(await project.git("branch", "--list", "overstory/squashed/*")).toBe("");
    // Its own commits stay reachable, though only the squashed one is on a branch.
    expect((await project.git("rev-parse", "refs/overstory/snap/squashed/1/1")).trim()).toBe(tip);
    const [{ trash }] = first.removed as [{ trash: string }];
    expect(readFileSync(join(trash, "trace.log"), "utf8")).toBe("kept in the trash\n");
    expect(await project.agent("squashed")).toMatchObject({
      state: "completed",
      releasedAt: expect.any(Number),
      cleanedAt: expect.any(Number),
    });
    const recorded = await project.read((tx) => tx.snapshots.of("squashed"));
    expect(recorded).toMatchObject([{ ref: "refs/overstory/snap/squashed/1/1", commitId: tip }]);

    const told = await project.json("worktree", "clean", "--all");
    expect(told.reasons).toContainEqual(expect.objectContaining({ class: "running", next: "ov stop running" }));
    expect((await project.ov("worktree", "clean")).out).toContain("stays: it holds uncommitted work");
  });

  for (const worktreeKind of ["linked", "clone"] as const) {
    test(`--force saves a ${worktreeKind} worktree, and the printed command brings commits and files back`, async () => {
      await using project = await makeProject({ files: { "a.txt": "a\n", ".gitignore": ".overstory/\n" } });
      const path = await seat(project, "ann", { worktreeKind });
      await commit(project, path, "committed.txt", "c\n");
      put(path, "a.txt", "uncommitted\n");
      put(path, "dir/untracked file.txt", "u\n");
      const cleaned = await project.json("worktree", "clean", "--force");
      expect(cleaned.cleaned).toEqual(["overstory/ann/t-1"]);
      expect(existsSync(path)).toBe(false);
      expect(await project.git("branch", "--list", "overstory/*")).toBe("");
      const [rescue] = cleaned.rescued as { ref: string; restore: string }[];
      expect(rescue?.ref).toBe("refs/overstory/rescue/ann-1");
      expect(typed(project, rescue?.restore ?? "false")).toMatchObject({ code: 0 });
      expect(existsSync(path)).toBe(false);
      const back = `${project.root}-ann-rescued`;
      expect(readFileSync(join(back, "committed.txt"), "utf8")).toBe("c\n");
      expect(readFileSync(join(back, "a.txt"), "utf8")).toBe("uncommitted\n");
      expect(readFileSync(join(back, "dir/untracked file.txt"), "utf8")).toBe("u\n");
      // It is the user's: no command takes it for the worktree of an agent.
      expect((await project.json("worktree", "list")).worktrees).toMatchObject([{ agentName: null, path: back }]);
      expect((await project.json("worktree", "clean")).cleaned).toEqual([]);
      expect(JSON.stringify((await project.json("doctor")).checks)).not.toContain(back);
      expect((await project.git("-C", back, "log", "--format=%s", "-2")).trim()).toBe(
        "Restore what ann left uncommitted\nchange committed.txt",
      );
    });
  }

  test("--force leaves a worktree whose merge waits for the operator, and a refusal reaches its agent", async () => {
    await using project = await makeProject({ gates: ["true"] });
    const path = await seat(project, "ann");
    await commit(project, path, "c.txt", "c\n");
    await project.json("merge", "add", "overstory/ann/t-1");
    const { cleaned, reasons } = await project.json("worktree", "clean", "--force");
    expect(cleaned).toEqual([]);
    expect(reasons).toMatchObject([{ class: "awaited", next: "ov merge show 1" }]);
    expect(existsSync(path)).toBe(true);
    expect(await project.json("decide", "merge:1", "reject", "--note", "no")).toMatchObject({ to: "ann" });
    await project.ov("stop", "ann", "--force");
  });

  test("who rejects the merge of an agent that was given up is told that nobody acts on it", async () => {
    await using project = await makeProject({ gates: ["true"] });
    for (const name of ["ann", "bob"]) {
      await commit(project, await seat(project, name), `${name}.txt`, "c\n");
      await project.json("merge", "add", `overstory/${name}/t-1`);
      await project.json("release", name);
    }
    const decided = await project.ov("decide", "merge:1", "reject", "--note", "no");
    expect(decided.out).toContain("ann has ended");
    expect(decided.out).toContain("ov recover ann");
    expect((await project.ov("merge", "reject", "2", "--reason", "no")).out).toContain("ov recover bob");
  });

  test("a live agent's worktree stays even with --force, and says how to stop the agent", async () => {
    await using project = await makeProject();
    const path = await seat(project, "ann", { state: "in_turn", outcome: null, endedAt: null });
    put(path, "draft.txt", "d\n");
    const { cleaned, reasons } = await project.json("worktree", "clean", "--force", "--all");
    expect(cleaned).toEqual([]);
    expect(reasons).toMatchObject([{ class: "running", next: "ov stop ann" }]);
    expect(readFileSync(join(path, "draft.txt"), "utf8")).toBe("d\n");
  });

  test("an agent keeps its place from the reservation on, before its worktree is on record, also against --force", async () => {
    await using project = await makeProject();
    const path = await seat(project, "ann", booting);
    put(path, "draft.txt", "d\n");
    const { cleaned, reasons } = await project.json("worktree", "clean", "--force", "--all");
    expect(cleaned).toEqual([]);
    expect(reasons).toMatchObject([{ class: "running", next: "ov stop ann" }]);
    expect(readFileSync(join(path, "draft.txt"), "utf8")).toBe("d\n");
    expect(await project.git("branch", "--list", "overstory/*")).toContain("overstory/ann/t-1");
    expect((await project.ov("clean", "--all", "--yes", "--force")).code).toBe(6);
  });

  test("ov release leaves alone what was put in the place of a worktree, and says so", async () => {
    await using project = await makeProject({ files: { "a.txt": "a\n", ".gitignore": ".overstory/\n*.db\n" } });
    const path = await seat(project, "ann");
    const victim = join(project.root, "..", "victim");
    put(victim, "overstory.db", "another project\n");
    put(victim, "notes.txt", "n\n");
    renameSync(path, `${path}.real`);
    symlinkSync(victim, path);
    await project.json("release", "ann");
    await project.until("it is cleaned", async () => (await project.agent("ann")).cleanedAt !== null);
    expect(readdirSync(victim).toSorted()).toEqual(["notes.txt", "overstory.db"]);
    const events = await project.read((tx) => tx.events.after(0, 1_000));
    expect(events.find(({ type }) => type === "worktree_kept")?.data).toContain("a symbolic link stands at");
  });

  test("a removal of another living process is not disturbed; one of a dead process is taken over", async () => {
    await using project = await makeProject();
    const path = await seat(project, "ann");
    const other = Bun.spawn({ cmd: ["sleep", "100"], stdio: ["ignore", "ignore", "ignore"] });
    const identity = linuxProcesses.identify(other.pid);
    if (identity === undefined) throw new Error("no process");
    await change(project, (tx) => tx.removals.begin({ agentName: "ann", ...identity, createdAt: 1 }));
    const refused = await project.ov("worktree", "clean");
    expect(refused).toMatchObject({ code: 1, out: expect.stringContaining("another command is cleaning") });
    expect(existsSync(path)).toBe(true);
    other.kill("SIGKILL");
    await other.exited;
    expect(await project.json("worktree", "clean")).toMatchObject({ cleaned: ["overstory/ann/t-1"] });
    // The engine heard of the release and may remove the worktree too; its removal is on record until it ends.
    await project.until(
      "no removal was on record",
      async () => (await project.read((tx) => tx.removals.of("ann"))) === undefined,
    );
  });

  test("an agent that its live parent may reopen keeps its worktree until it is released", async () => {
    await using project = await makeProject();
    await seat(project, "lead-1", { capability: "lead", state: "between_turns", outcome: null, endedAt: null });
    const path = await seat(project, "ann", { parentName: "lead-1" });
    const held = await project.json("worktree", "clean");
    expect(held).toMatchObject({ cleaned: [], blockedByChildren: ["overstory/ann/t-1"] });
    expect(held.reasons).toMatchObject([{ class: "held", next: "ov release ann" }]);
    await change(project, async (tx) => {
      await tx.agents.release("agent-ann", 5);
    });
    // The engine takes it away as well, and may be faster.
    expect(await project.json("worktree", "clean")).toMatchObject({ blockedByChildren: [], reasons: [], failed: [] });
    expect(existsSync(path)).toBe(false);
  });

  test("a worktree whose directory was deleted is forgotten, its unmerged branch is not", async () => {
    await using project = await makeProject();
    const path = await seat(project, "ann");
    const tip = await commit(project, path, "u.txt", "u\n");
    rmSync(path, { recursive: true });
    expect(await project.json("worktree", "clean")).toMatchObject({ pruned: 1, cleaned: [] });
    expect((await project.git("rev-parse", "overstory/ann/t-1")).trim()).toBe(tip);
    expect(await project.git("worktree", "list", "--porcelain")).not.toContain(path);
  });

  test("a landing branch's worktree is nobody's to clean", async () => {
    await using project = await makeProject();
    await project.json("task", "create", "Earlier");
    const place = join(project.root, "..", "landing");
    await project.git("worktree", "add", "--quiet", "-b", "overstory/integration/run-1", place);
    expect(await project.json("worktree", "clean", "--force", "--all")).toMatchObject({ cleaned: [], reasons: [] });
    expect(existsSync(place)).toBe(true);
  });

  test("agents may look, but not clean", async () => {
    await using project = await makeProject();
    const path = await seat(project, "ann");
    await change(project, async (tx) => {
      const digest = randomIds.digest("secret");
      await tx.tokens.insert({ digest, agentId: "agent-ann", turnId: null, createdAt: 1, revokedAt: null });
    });
    const env = { OVERSTORY_TOKEN: "secret" };
    expect((await project.ovWith({ env }, "worktree", "list")).code).toBe(0);
    expect((await project.ovWith({ env }, "worktree", "clean", "--force")).code).toBe(8);
    expect((await project.ovWith({ env }, "clean", "--worktrees")).code).toBe(8);
    expect(existsSync(path)).toBe(true);
  });
});
