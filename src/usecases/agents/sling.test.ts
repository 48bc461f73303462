import { describe, expect, test } from "bun:test";
import { someTerms } from "../../../testkit/assignments.ts";
import { aTask } from "../../../testkit/contracts/store/rows.ts";
import { type MailWorld, mailWorld } from "../../../testkit/mail-world.ts";
import { settingsFor } from "../../../testkit/use-case.ts";
import type { Agent } from "../../domain/agent/agent.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { payloadBeyondText } from "../../domain/mail/payload.ts";
import { renderInstructions } from "../../domain/role/render/overlay.ts";
import type { Settings } from "../../ports/settings.ts";
import { sendMail } from "../mail/send.ts";
import { assignmentOf } from "../prompts/assignment.ts";
import { writeSpec } from "../specs/specs.ts";
import { updateTask } from "../tasks/change-tasks.ts";
import { drySling, sling } from "./sling.ts";
import type { SlingRequest } from "./sling-request.ts";

const worldOf = (more: Partial<Settings> = {}): Promise<MailWorld> => mailWorld({}, more);

const asking = (name: string, more: Partial<SlingRequest> = {}): SlingRequest => ({
  taskId: `t-${name}`,
  title: `Work of ${name}`,
  name,
  capability: "builder",
  files: [`${name}.ts`],
  environment: {},
  ...more,
});

/** Slings an agent and answers what it will be told. */
async function told(world: MailWorld, name: string, more: Partial<SlingRequest>): Promise<string> {
  await world.must(sling, asking(name, more));
  return world.store.read(async (tx) => {
    const agent = await tx.agents.byName(name);
    if (agent === undefined) throw new Error(`${name} was not slung`);
    return renderInstructions("# Role", await assignmentOf(tx, agent), someTerms);
  });
}

const asks: readonly (readonly [string, Partial<SlingRequest>, string])[] = [
  ["--siblings", { siblings: ["someone-else"] }, "### Siblings"],
  ["--profile", { profile: "ov-research" }, "Working Style: `ov-research`"],
  ["--skip-scout", { skipScout: true }, "**Skip scouting**"],
  ["--skip-review", { skipReview: true }, "**Skip review**"],
  ["--dispatch-max-agents", { dispatchMaxAgents: 3 }, "**At most 3 agents** at work at once"],
];

test.each(asks)("%s is in the instructions of a lead, and only when it was asked for", async (_, asked, words) => {
  await using world = await worldOf();
  expect(await told(world, "plain", { capability: "lead" })).not.toContain(words);
  expect(await told(world, "asked", { capability: "lead", ...asked })).toContain(words);
});

test.each(["../../etc", "/etc/passwd", "src/../../x", "~/x"])(
  "%s is no file of the project, and nobody is slung for it",
  async (file) => {
    await using world = await worldOf();
    const refused = await world.call(sling, asking("ann", { files: ["a.ts", file] }));
    expect(refused).toMatchObject({ ok: false, refusal: { kind: "invalid", field: "files", value: file } });
    expect(await world.store.read((tx) => tx.agents.byName("ann"))).toBeUndefined();
  },
);

test("project.defaultProfile is the working style of an agent that is slung without one", async () => {
  const { project, ...rest } = settingsFor("app");
  await using world = await worldOf({ ...rest, project: { ...project, defaultProfile: "careful" } });
  expect(await told(world, "ann", {})).toContain("Working Style: `careful`");
  expect(await told(world, "bob", { profile: "quick" })).toContain("Working Style: `quick`");
});

test("--dispatch-max-agents bounds the children of a lead, whatever the settings allow it", async () => {
  await using world = await worldOf();
  const lead = await slungLead(world, { dispatchMaxAgents: 2 });
  await world.must(sling, asking("one"), lead);
  await world.must(sling, asking("two"), lead);
  const full = { ok: false, refusal: { kind: "parent-full", parent: "boss", limit: 2 } };
  expect(await world.call(sling, asking("three"), { caller: lead })).toMatchObject(full);
  expect(await world.call(sling, asking("three", { maxAgents: 9 }), { caller: lead })).toMatchObject(full);
  await world.must(sling, asking("three", { parent: "boss", maxAgents: 3 }));
});

test("--max-agents of an agent can lower what its parent may have, never raise it", async () => {
  await using world = await worldOf();
  const lead = await slungLead(world, {});
  await world.must(sling, asking("one", { maxAgents: 1 }), lead);
  expect(await world.call(sling, asking("two", { maxAgents: 1 }), { caller: lead })).toMatchObject({
    refusal: { kind: "parent-full", limit: 1 },
  });
  for (const name of ["two", "three", "four", "five"]) await world.must(sling, asking(name, { maxAgents: 0 }), lead);
  expect(await world.call(sling, asking("six", { maxAgents: 0 }), { caller: lead })).toMatchObject({
    refusal: { kind: "parent-full", limit: 5 },
  });
});

test("agents.staggerDelayMs lies between the first turns of agents that are slung at once", async () => {
  const { agents, ...rest } = settingsFor("app");
  await using world = await worldOf({ ...rest, agents: { ...agents, staggerDelayMs: 2_000 } });
  for (const name of ["a", "b", "c"]) await world.must(sling, asking(name));
  world.clock.now += 60_000;
  await world.must(sling, asking("late"));
  const slots = await world.store.read(async (tx) => {
    const due: number[] = [];
    for (const name of ["a", "b", "c", "late"]) {
      const agent = await tx.agents.byName(name);
      const turn = agent === undefined ? undefined : await tx.turns.queuedFor(agent.id);
      due.push(Math.max(turn?.notBefore ?? 0, turn?.queuedAt ?? 0));
    }
    return due.map((time) => time - (due[0] ?? 0));
  });
  expect(slots).toEqual([0, 2_000, 4_000, 60_000]);
});

test("who builds for a parent that sent no scout is warned of it once in a run", async () => {
  await using world = await worldOf();
  const lead = await slungLead(world, {});
  const parent = lead.name;
  await world.must(sling, asking("one", { parent }));
  const warned = async (name: string, more: Partial<SlingRequest>): Promise<boolean> =>
    (await world.must(sling, asking(name, { parent, ...more }))).warnings.some((words) => words.includes("scout"));
  expect(await warned("two", {})).toBe(true);
  expect(await warned("three", {})).toBe(false);
});

test("the warning about scouts is silenced by a flag, and an agent, whose role says when to scout, gets none", async () => {
  await using world = await worldOf();
  const lead = await slungLead(world, {});
  await world.must(sling, asking("one"), lead);
  const plan = async (more: Partial<SlingRequest>, caller?: typeof lead) =>
    (await world.must(drySling, asking("two", more), caller)).warnings.filter((words) => words.includes("scout"));
  expect(await plan({}, lead)).toEqual([]);
  expect(await plan({ parent: lead.name })).toEqual([
    "this parent has sent no scout in this run; --no-scout-check silences this",
  ]);
  expect(await plan({ parent: lead.name, scoutCheck: false })).toEqual([]);
});

describe("on the task of a builder that has submitted", () => {
  const branch = "overstory/b1/T";
  const built = { taskId: "T", branch, worktreePath: "/w/b1", state: "completed", outcome: "done" } as const;
  const looking = (capability: string, more: Partial<SlingRequest> = {}): SlingRequest => ({
    taskId: "T",
    name: capability,
    capability,
    files: [],
    environment: {},
    forceHierarchy: true,
    ...more,
  });
  const submitted = async (more: Partial<Agent> = {}): Promise<MailWorld> => {
    const world = await worldOf();
    await world.store.transaction((tx) => tx.tasks.insert(aTask("T", { status: "in_review", mergeState: "pending" })));
    await world.seat("b1", { ...built, ...more });
    return world;
  };
  const slung = async (world: MailWorld, request: SlingRequest): Promise<Agent | undefined> => {
    await world.must(sling, request);
    return world.store.read((tx) => tx.agents.byName(request.name ?? ""));
  };

  test("read-only agents may be slung, and leave the task as it is; other agents may not", async () => {
    await using world = await submitted();
    for (const capability of ["reviewer", "scout"]) await world.must(sling, looking(capability));
    for (const capability of ["builder", "merger", "lead"]) {
      expect(await world.call(sling, looking(capability))).toMatchObject({
        refusal: { kind: "task-status", status: "in_review", wanted: ["open", "in_progress"] },
      });
    }
    expect(await world.store.read((tx) => tx.tasks.get("T"))).toMatchObject({ status: "in_review", claimedBy: null });
  });

  test("a reviewer starts from the newest work on it, a scout where everybody does", async () => {
    await using world = await submitted({ startedAt: 1 });
    await world.seat("b2", { ...built, branch: "overstory/b2/T", startedAt: 2 });
    expect(await slung(world, looking("reviewer"))).toMatchObject({ baseRef: "overstory/b2/T" });
    expect(await slung(world, looking("scout"))).toMatchObject({ baseRef: null });
    const told = looking("reviewer", { name: "other", baseBranch: branch });
    expect(await slung(world, told)).toMatchObject({ baseRef: branch });
  });

  test("a reviewer that is asked again leaves the task in review; a builder takes it out", async () => {
    await using world = await submitted();
    await world.seat("rev", { ...built, capability: "reviewer", branch: "overstory/rev/T" });
    const ask = (to: string) => world.must(sendMail, { to, subject: "?", body: "why?", type: "question" });
    const status = async () => (await world.store.read((tx) => tx.tasks.get("T")))?.status;
    await ask("rev");
    expect(await status()).toBe("in_review");
    await ask("b1");
    expect(await status()).toBe("in_progress");
  });

  test.each([
    ["without a worktree has no branch yet", { worktreePath: null }],
    ["that was let go has landed or was given up", { releasedAt: 5 }],
  ])("a builder %s, so its reviewer starts where everybody does", async (_, more) => {
    await using world = await submitted(more);
    expect(await slung(world, looking("reviewer"))).toMatchObject({ baseRef: null });
  });
});

test("the spec of a task is given to every agent slung on it, unless another spec is named", async () => {
  await using world = await worldOf();
  await world.store.transaction((tx) => tx.tasks.insert(aTask("T")));
  const { path } = await world.must(writeSpec, { taskId: "T", body: "so and so" });
  const request = { taskId: "T", capability: "scout", files: [], environment: {} };
  const dispatched = async (name: string): Promise<string> => {
    const [mail] = await world.store.read((tx) => tx.messages.list({ to: name, type: "dispatch" }));
    return mail?.body ?? "";
  };
  await world.must(sling, { ...request, name: "s1" });
  expect(await dispatched("s1")).toContain(`Spec: ${path} (your instructions have its text)`);
  await world.must(sling, { ...request, name: "s2", specPath: "/elsewhere.md" });
  expect(await dispatched("s2")).toEndWith("Spec: /elsewhere.md");
  await world.must(sling, asking("s3"));
  expect(await dispatched("s3")).toContain("There is no written spec");
  await world.store.transaction((tx) => tx.tasks.insert(aTask("U", { title: "Dates", description: "Parse them" })));
  await world.must(sling, { ...request, taskId: "U", name: "s4" });
  expect(await dispatched("s4")).toBe("Dates\n\nThere is no written spec; the task text is all there is.");
});

describe("a task that says which files it will change", () => {
  test("is refused when one of them is outside of the project, as in an imported task", async () => {
    await using world = await worldOf();
    await world.store.transaction((tx) => tx.tasks.insert(aTask("OUT", { files: ["../other"] })));
    const request = { taskId: "OUT", capability: "builder", files: [], environment: {} };
    expect(await world.call(sling, request)).toMatchObject({ refusal: { field: "files", value: "../other" } });
  });

  const bare = (taskId: string, more: Partial<SlingRequest> = {}): SlingRequest => ({
    taskId,
    name: taskId.toLowerCase(),
    capability: "builder",
    files: [],
    environment: {},
    ...more,
  });
  const withTasks = async (): Promise<MailWorld> => {
    const world = await worldOf();
    await world.store.transaction(async (tx) => {
      await tx.tasks.insert(aTask("OC", { files: ["services/web/**"] }));
      await tx.tasks.insert(aTask("OD", { files: ["services/web/build.js"] }));
    });
    return world;
  };
  const scopeOf = async (world: MailWorld, name: string): Promise<readonly string[] | undefined> =>
    (await world.store.read((tx) => tx.agents.byName(name)))?.scope;

  test("gives them to its agent, and another agent whose task wants one of them is refused", async () => {
    await using world = await withTasks();
    await world.must(sling, bare("OC"));
    expect(await scopeOf(world, "oc")).toEqual(["services/web/**"]);
    const [mail] = await world.store.read((tx) => tx.messages.list({ to: "oc", type: "dispatch" }));
    expect(JSON.parse(mail?.payload ?? "{}")).toMatchObject({ fileScope: ["services/web/**"] });
    const overlap = { kind: "scope-overlap", owner: "oc", wanted: "services/web/build.js", owned: "services/web/**" };
    expect(await world.call(sling, bare("OD"))).toMatchObject({ ok: false, refusal: overlap });
    expect(await world.call(drySling, bare("OD"))).toMatchObject({ ok: false, refusal: overlap });
    const { warnings } = await world.must(sling, bare("OD", { allowOverlap: true }));
    expect(warnings).toEqual(["services/web/build.js may meet what oc changes (services/web/**)"]);
  });

  test("says which of them a shorter list leaves out", async () => {
    await using world = await worldOf();
    await world.store.transaction((tx) => tx.tasks.insert(aTask("LO", { files: ["src/a.ts", "package.json"] })));
    expect((await world.must(sling, bare("LO", { files: ["src/**"] }))).warnings).toEqual([
      "the task also names package.json, which the agent may not change: the files that were given count instead",
    ]);
  });

  test("may share files with another task, and a refusal names every file that two agents would own", async () => {
    await using world = await worldOf();
    const shares = ["CHANGELOG.md", "src/registry.rs"];
    await world.store.transaction(async (tx) => {
      await tx.tasks.insert(aTask("SA", { files: ["src/a"], shares }));
      await tx.tasks.insert(aTask("SB", { files: ["src/b"], shares }));
      await tx.tasks.insert(aTask("SC", { files: ["src/a/x.ts", "CHANGELOG.md"] }));
    });
    expect((await world.must(sling, bare("SA"))).warnings).toEqual([expect.stringContaining("src/registry.rs")]);
    await world.must(sling, bare("SB"));
    expect((await world.store.read((tx) => tx.agents.byName("sb")))?.shares).toEqual(shares);
    const [mail] = await world.store.read((tx) => tx.messages.list({ to: "sb", type: "dispatch" }));
    // L14: its instructions have the files; the payload is for programs.
    expect(mail?.body).not.toContain("CHANGELOG.md");
    expect(mail === undefined ? null : payloadBeyondText(mail)).toBeNull();
    const all = [
      { owner: "sa", wanted: "src/a/x.ts", owned: "src/a", shared: false },
      { owner: "sa", wanted: "CHANGELOG.md", owned: "CHANGELOG.md", shared: true },
      { owner: "sb", wanted: "CHANGELOG.md", owned: "CHANGELOG.md", shared: true },
    ];
    expect(await world.call(sling, bare("SC"))).toMatchObject({
      refusal: { kind: "scope-overlap", all: expect.arrayContaining(all) },
    });
    await world.must(sling, bare("SC", { files: ["src/c"], shares: ["CHANGELOG.md"] }));
  });

  test("are refused with all of them, however many there are", async () => {
    await using world = await worldOf();
    const files = Array.from({ length: 31 }, (_, at) => `src/f${at}.ts`);
    await world.store.transaction(async (tx) => {
      await tx.tasks.insert(aTask("SA", { files }));
      await tx.tasks.insert(aTask("SB", { files }));
    });
    await world.must(sling, bare("SA"));
    const refused = await world.call(sling, bare("SB"));
    expect(refused.ok || refused.refusal.kind !== "scope-overlap" ? 0 : refused.refusal.all.length).toBe(31);
  });

  test("may be shared with the agent that owns a file, by the two commands that the refusal names", async () => {
    await using world = await worldOf();
    await world.store.transaction(async (tx) => {
      await tx.tasks.insert(aTask("SA", { files: ["src/**", "docs/a.md"], shares: ["CHANGELOG.md"] }));
      await tx.tasks.insert(aTask("SB", { files: ["src/b.ts", "docs/*"], shares: ["CHANGELOG.md"] }));
    });
    await world.must(sling, bare("SA"));
    const shares = ["CHANGELOG.md", "src/b.ts", "docs/a.md"];
    expect(await world.call(sling, bare("SB"))).toMatchObject({
      refusal: { kind: "scope-overlap", toShare: { own: shares, others: [{ task: "SA", shares }] } },
    });
    await world.must(updateTask, { id: "SA", shares });
    await world.must(sling, bare("SB", { shares }));
  });

  test("yields to the files that the sling names, and means nothing for those who own no files", async () => {
    await using world = await withTasks();
    await world.must(sling, bare("OC", { files: ["docs/**"] }));
    expect(await scopeOf(world, "oc")).toEqual(["docs/**"]);
    await world.must(sling, bare("OD"));
    expect(await scopeOf(world, "od")).toEqual(["services/web/build.js"]);
    await world.must(sling, bare("OC", { name: "looks", capability: "scout" }));
    expect(await scopeOf(world, "looks")).toEqual([]);
  });
});

async function slungLead(world: MailWorld, more: Partial<SlingRequest>): Promise<Caller> {
  await world.must(sling, asking("boss", { capability: "lead", files: [], ...more }));
  const agent = await world.store.read((tx) => tx.agents.byName("boss"));
  if (agent === undefined) throw new Error("the lead was not slung");
  const { name, id: agentId, capability, runId, taskId } = agent;
  return { kind: "agent", name, agentId, capability, runId, taskId, turnId: null };
}

test("an agent slings nothing, not even a reviewer, on a task of an agent that is not below it", async () => {
  await using world = await worldOf();
  const seat = { capability: "lead", parentName: "coordinator", runId: "run-1" } as const;
  const [one, other] = [await world.seat("l1", seat), await world.seat("l2", seat)];
  await world.store.transaction((tx) => tx.tasks.insert(aTask("T9", { runId: "run-1", status: "in_review" })));
  await world.seat("b9", { parentName: "l2", runId: "run-1", taskId: "T9", state: "completed", outcome: "done" });
  const judge = (name: string): SlingRequest => ({
    taskId: "T9",
    name,
    capability: "reviewer",
    files: [],
    environment: {},
  });
  expect(await world.call(sling, judge("rx"), { caller: one })).toMatchObject({
    refusal: { kind: "not-allowed", why: expect.stringContaining("b9, which works on it, is not below it") },
  });
  expect(await world.call(sling, judge("ry"), { caller: other })).toMatchObject({ ok: true });
});

test.each(["engine", "overstory", "human"])("no agent is called %s", async (name) => {
  await using world = await worldOf();
  expect(await world.call(sling, asking(name))).toMatchObject({ refusal: { kind: "invalid", field: "name" } });
});

test("a new run is for no landing branch of ours and for no agent's branch, typed or checked out", async () => {
  await using world = await worldOf();
  const first = await world.must(sling, asking("ann", { run: "new", currentBranch: "main" }));
  const landing = `overstory/integration/${first.runId}`;
  await world.store.transaction((tx) =>
    tx.runs.setBranches(first.runId, { targetBranch: "main", landingBranch: landing }),
  );
  for (const where of [{ targetBranch: landing }, { currentBranch: landing }]) {
    expect(await world.call(sling, asking("bob", { run: "new", ...where }))).toMatchObject({
      ok: false,
      refusal: { field: "target", value: landing, problem: expect.stringContaining("the branch that it is for: main") },
    });
  }
  const own = await world.call(sling, asking("bob", { run: "new", targetBranch: first.branch }));
  expect(own).toMatchObject({ ok: false, refusal: { field: "target", problem: expect.stringContaining("agent ann") } });
  expect(await world.store.read((tx) => tx.agents.byName("bob"))).toBeUndefined();
  // An agent that joins the run is not sent there either.
  const joined = await world.must(sling, asking("eve", { run: first.runId, currentBranch: landing }));
  expect(joined.warnings.join()).not.toContain("--run new");
});

test("a task that a sling makes belongs to the run of its agent, not to the run that is going on", async () => {
  await using world = await worldOf();
  const runOfTask = async (id: string) => (await world.store.read((tx) => tx.tasks.get(id)))?.runId;
  const first = await world.must(sling, asking("ann", { run: "new" }));
  expect(await runOfTask("t-ann")).toBe(first.runId);
  const second = await world.must(sling, asking("bob", { run: "new" }));
  expect(second.runId).not.toBe(first.runId);
  expect(await runOfTask("t-bob")).toBe(second.runId);
  await world.must(sling, asking("eve", { run: first.runId }));
  expect(await runOfTask("t-eve")).toBe(first.runId);
  const lead = await world.must(sling, asking("lou", { run: first.runId, capability: "lead" }));
  const below = await world.must(sling, asking("kid", { parent: lead.agentName }));
  expect(await runOfTask("t-kid")).toBe(below.runId);
});

test("an id made of a title is free: other words with the same id get a number, the same words are a repetition", async () => {
  await using world = await worldOf();
  const say = (name: string, title: string) =>
    asking(name, { taskId: "task", title, idOfTitle: true, files: [`${name}.ts`] });
  expect(await world.must(sling, say("ann", "中文 字"))).toMatchObject({ taskId: "task" });
  expect(await world.must(drySling, say("bob", "Привет мир"))).toMatchObject({ taskId: "task-2" });
  expect(await world.must(sling, say("bob", "Привет мир"))).toMatchObject({ taskId: "task-2" });
  expect(await world.store.read((tx) => tx.tasks.get("task-2"))).toMatchObject({
    title: "Привет мир",
    claimedBy: "bob",
  });
  const again = await world.call(sling, say("eve", "Привет мир"));
  expect(again).toMatchObject({
    ok: false,
    refusal: { field: "title", problem: expect.stringContaining("to work on that one: ov sling task-2;") },
  });
  // An id that was typed is meant as it is.
  const typed = await world.call(sling, asking("eve", { taskId: "task", title: "Another" }));
  expect(typed).toMatchObject({ ok: false, refusal: { field: "title", value: "task" } });
});
