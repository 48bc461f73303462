import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crashOut, freezeAtRest, promptsOf, slingNew, startsOf, thaw, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const finishing = `
- do:
    - edit: { file: work.txt, write: "work\\n" }
    - commit: work
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, done]
`;

/** The repository as git sees it. */
/** All refs but the run's landing branch, which is there from its first agent on, and all worktrees. */
async function repository(project: TestProject): Promise<string> {
  const refs = (await project.git("for-each-ref")).split("\n");
  const kept = refs.filter((line) => !line.includes("refs/heads/overstory/integration/"));
  return kept.join("\n") + (await project.git("worktree", "list", "--porcelain"));
}

const obstacles = {
  "a foreign directory in the place of the worktree": {
    flags: [],
    problem: "the directory exists and is not this agent's worktree",
    put: async ({ root }: TestProject) => {
      mkdirSync(join(root, ".overstory/worktrees/b1"), { recursive: true });
      writeFileSync(join(root, ".overstory/worktrees/b1/mine.txt"), "mine\n");
    },
    remove: async ({ git, root }: TestProject) => {
      expect(readFileSync(join(root, ".overstory/worktrees/b1/mine.txt"), "utf8")).toBe("mine\n");
      await git("clean", "-fdxq", ".overstory/worktrees/b1");
    },
  },
  "a branch that is checked out elsewhere": {
    flags: [],
    problem: "overstory/b1/B1 is checked out at",
    put: async ({ git, home }: TestProject) => {
      await git("worktree", "add", "--quiet", "-b", "overstory/b1/B1", join(home, "elsewhere"));
      writeFileSync(join(home, "elsewhere/earlier.txt"), "earlier\n");
      await git("-C", join(home, "elsewhere"), "add", "-A");
      await git("-C", join(home, "elsewhere"), "commit", "--quiet", "-m", "earlier work");
    },
    remove: async ({ git, home }: TestProject) => {
      expect(await git("show", "overstory/b1/B1:earlier.txt")).toBe("earlier\n");
      await git("worktree", "remove", join(home, "elsewhere"));
    },
  },
};

describe("an agent that cannot be given a worktree", () => {
  test.each(Object.entries(obstacles))("because of %s leaves everything as it was", async (_, obstacle) => {
    await using project = await makeProject({ scenario: finishing });
    // The project was in use before the obstacle came.
    await project.json("task", "create", "Earlier", "--id", "E1");
    await obstacle.put(project);
    const before = await repository(project);
    await slingNew(project, "B1", ...obstacle.flags);
    await untilAgent(project, "b1", "zombie/start_failed");
    await project.settled();
    expect(await repository(project)).toBe(before);
    const { task, mail, told, queued } = await project.read(async (tx) => ({
      task: await tx.tasks.get("B1"),
      mail: await tx.deliveries.inState("b1", ["queued", "claimed", "delivered", "acked", "dead"]),
      told: await tx.messages.list({ to: "operator" }),
      queued: await tx.turns.queuedFor((await tx.agents.byName("b1"))?.id ?? ""),
    }));
    expect(task).toMatchObject({ status: "open", claimedBy: null });
    expect({ mail, queued }).toEqual({ mail: [], queued: undefined });
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ type: "error", subject: "[ENGINE] could not start b1" });
    expect(told[0]?.body).toContain(obstacle.problem);
    expect(startsOf(project, "b1")).toEqual([]);
    expect((await project.ov("logs", "b1")).out).toContain(`it could not start: `);
    const seen = (await project.ov("status")).out;
    expect(seen).toContain("could not start");
    expect(seen.split(obstacle.problem)).toHaveLength(3);
    expect(seen).toContain("ov sling B1 --capability builder --name b1");
    expect((await project.json("status")).needsOperator).toBe(true);
    const again = await project.ov("sling", "B1", "--name", "b1", "--wait=done");
    expect([again.code, again.out]).toEqual([9, expect.stringContaining(obstacle.problem)]);

    await obstacle.remove(project);
    await project.json("sling", "B1", "--name", "b1");
    await untilAgent(project, "b1", "completed/done");
    expect((await project.ov("status")).out).not.toContain("could not start");
    expect(await project.git("show", "overstory/b1/B1:work.txt")).toBe("work\n");
  });

  test("is no wait of its parent any more, who is woken and told", async () => {
    await using project = await makeProject({
      scenario: `
- when: { capability: lead, turn: 1 }
  do: [{ shell: mkdir ../b1 && touch ../b1/mine.txt }, { ov: [sling, B1, --name, b1] }]
- when: { capability: lead }
  do: [{ ov: [done, --no-code, --reason, nothing to build, --summary, no builder] }]
`,
    });
    await project.json("task", "create", "B1", "--id", "B1");
    await slingNew(project, "L", "--capability", "lead");
    await untilAgent(project, "l", "completed/done");
    expect(promptsOf(project, "l")).toHaveLength(2);
    expect(promptsOf(project, "l")[1]).toContain("could not start b1");
  });
});

test("a base branch that does not exist is refused at once, and nothing is reserved", async () => {
  await using project = await makeProject();
  await project.json("task", "create", "B1", "--id", "B1");
  const answer = await project.ov("sling", "B1", "--name", "b1", "--base-branch", "nowhere", "--json");
  expect(answer.code).toBe(2);
  expect(JSON.parse(answer.out)).toMatchObject({ code: "VALIDATION_ERROR", error: expect.stringContaining("nowhere") });
  expect(await project.read((tx) => tx.agents.byName("b1"))).toBeUndefined();
});

test("an engine that was started with a poor PATH finds git where systems have it", async () => {
  await using project = await makeProject({ scenario: finishing });
  await project.json("task", "create", "B1", "--id", "B1");
  await project.ovWith({ env: { PATH: "/nowhere" } }, "engine", "start");
  await project.json("sling", "B1", "--name", "b1");
  await untilAgent(project, "b1", "completed/done");
});

test("a branch whose name leaves no room for ours is named, with the way out", async () => {
  await using project = await makeProject({ scenario: finishing });
  await project.json("task", "create", "B1", "--id", "B1");
  await project.git("branch", "overstory");
  const refused = await project.ov("sling", "B1", "--name", "b1", "--wait=done");
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("git branch -m overstory <new name>")]);
  await project.git("branch", "-m", "overstory", "mine");
  await project.json("sling", "B1", "--name", "b1");
  await untilAgent(project, "b1", "completed/done");
});

test("a branch with the name of an agent's folder is named before a seat is reserved, loose or packed", async () => {
  await using project = await makeProject({ scenario: finishing });
  await project.json("task", "create", "B1", "--id", "B1");
  await project.git("branch", "overstory/b1");
  for (const pack of [false, true]) {
    if (pack) await project.git("pack-refs", "--all");
    const refused = await project.ov("sling", "B1", "--name", "b1");
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("git branch -m overstory/b1 <new name>")]);
    expect(await project.read((tx) => tx.agents.list({}))).toEqual([]);
  }
  await project.git("branch", "-m", "overstory/b1", "mine");
  await project.json("sling", "B1", "--name", "b1");
  await untilAgent(project, "b1", "completed/done");
});

/** An engine that stays for longer than the test takes: one that has just left cannot be frozen. */
const stays = { OVERSTORY__ENGINE__IDLE_EXIT_MS: "600000" };

test("a branch that appears before the worktree is made is told in words, with the way out", async () => {
  await using project = await makeProject({ scenario: finishing, env: stays });
  await project.json("task", "create", "B1", "--id", "B1");
  const { pid } = (await project.json("engine", "start")) as { pid: number };
  await freezeAtRest(project, pid);
  await project.ov("sling", "B1", "--name", "b1");
  await project.git("branch", "overstory/b1");
  thaw(pid);
  await project.until("the operator was told", async () => {
    const told = await project.read((tx) => tx.messages.list({ to: "operator", type: "error" }));
    return told.some(({ body }) => body.includes("git branch -m overstory/b1 <new name>"));
  });
}, 120_000);

test("a recovery that cannot start names the command that tries it again, and that gets the mail of the first try", async () => {
  await using project = await makeProject({
    scenario: `
- when: { agent: b1, input: "Go on with B1" }
  do:
    - input: { expect: "Dispatch: B1" }
    - edit: { file: work.txt, write: "work\\n" }
    - commit: work
    - ov: [done, --summary, Work]
- do: [{ exit: 1 }]
`,
  });
  await project.json("task", "create", "B1", "--id", "B1");
  await project.json("sling", "B1", "--name", "b1");
  await crashOut(project, "b1");
  const { worktreePath } = await project.agent("b1");
  await project.git("worktree", "remove", "--force", worktreePath ?? "");
  await project.git("worktree", "add", "--quiet", join(project.home, "elsewhere"), "overstory/b1/B1");
  await project.json("recover", "b1");
  await untilAgent(project, "b1", "zombie/start_failed");
  await project.settled();
  const told = await project.read((tx) => tx.messages.list({ to: "operator", type: "error" }));
  const failed = told.find(({ subject }) => subject === "[ENGINE] could not start b1");
  expect(failed?.body).toContain("Next: mend that, then have it go on: ov recover b1");
  expect((await project.ov("inbox")).out).toContain("then have it go on: ov recover b1");
  await project.git("worktree", "remove", join(project.home, "elsewhere"));
  await project.json("recover", "b1");
  await untilAgent(project, "b1", "completed/done");
});
