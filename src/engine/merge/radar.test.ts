import { expect, test } from "bun:test";
import { anAgent, aRun, aTask } from "../../../testkit/contracts/store/rows.ts";
import { type LandingWorld, landingWorld } from "../../../testkit/landing-world.ts";
import type { Agent } from "../../domain/agent/agent.ts";
import type { MergeGit } from "../../ports/merge-git.ts";
import type { MergePorts } from "./ports.ts";
import { Radar } from "./radar.ts";

const lines = "one\ntwo\nthree\n";

/** Agents of one run with branches of their own, and a radar whose merges are counted. */
async function radarWorld(files: Record<string, string> = { "a.txt": lines, "b.txt": lines }) {
  const world = await landingWorld({ files });
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(aRun("r1", { targetBranch: "main", landingBranch: "main" }));
    await tx.agents.reserve(anAgent("lead", { capability: "lead", parentName: "operator" }));
  });
  const merged: number[] = [];
  const lookAhead: MergePorts["lookAhead"] = (look) =>
    world.ports.lookAhead(({ merging, resolve }) => {
      const mergePairs: MergeGit["mergePairs"] = (pairs) => {
        merged.push(pairs.length);
        return merging.mergePairs(pairs);
      };
      return look({ merging: { mergePairs }, resolve });
    });
  let rang = false;
  const radar = new Radar({ ...world.ports, lookAhead }, () => {
    rang = true;
  });
  return {
    world,
    merged,
    look: async (): Promise<boolean> => {
      rang = false;
      radar.look();
      await radar.settled();
      return rang;
    },
    /** The agent's turn ends with this edit committed. */
    commits: async (name: string, edit: () => void, facts: Partial<Agent> = {}): Promise<void> => {
      const branch = `overstory/${name}/t`;
      const headCommit = world.branch(branch, edit, facts.baseCommit ?? undefined);
      await world.store.transaction(async (tx) => {
        const known = await tx.agents.byName(name);
        const more: Partial<Agent> = { parentName: "lead", branch, worktreePath: `/w/${name}`, ...facts };
        const agent = known ?? anAgent(name, more);
        if (known === undefined) await tx.agents.reserve(agent);
        await tx.agents.inspected(agent.id, { headCommit, ahead: 1, dirty: false });
      });
    },
  };
}

const write = (world: LandingWorld, path: string, text: string) => () => world.write(world.root, path, text);

const warnings = (world: LandingWorld, name: string) =>
  world.store.read(async (tx) => {
    const found: string[] = [];
    for (const { seq, subject } of await tx.messages.list({ type: "status" })) {
      if ((await tx.deliveries.get(seq, name)) !== undefined) found.push(subject);
    }
    return found;
  });

test("a new collision is told to both owners and their lead, once; another file is another collision", async () => {
  const { world, look, commits } = await radarWorld();
  await using _ = world;
  await commits("b1", write(world, "a.txt", "ONE\ntwo\nthree\n"));
  await commits("b2", write(world, "a.txt", "1\ntwo\nthree\n"));
  expect(await look()).toBe(true);
  const subject = "branches collide: overstory/b1/t and overstory/b2/t";
  for (const name of ["b1", "b2", "lead"]) expect(await warnings(world, name)).toEqual([subject]);
  expect(await warnings(world, "operator")).toEqual([]);
  await commits("b1", write(world, "a.txt", "ONE\ntwo\nTHREE\n"));
  expect(await look()).toBe(false);
  expect(await warnings(world, "lead")).toEqual([subject]);
  await commits("b1", write(world, "b.txt", "ONE\ntwo\nthree\n"));
  await commits("b2", write(world, "b.txt", "1\ntwo\nthree\n"));
  await look();
  expect(await warnings(world, "lead")).toEqual([subject, subject]);
  const events = await world.store.read((tx) => tx.events.after(0, 100));
  const told = events.filter(({ type }) => type === "merge_radar").map(({ data }) => JSON.parse(data ?? "{}").files);
  expect(told).toEqual([["a.txt"], ["a.txt", "b.txt"]]);
});

test("the same collision is not told again when fewer files collide, when a third joins, or when one of them lands", async () => {
  const { world, look, commits } = await radarWorld();
  await using _ = world;
  for (const [name, text] of [
    ["b1", "ONE"],
    ["b2", "1"],
  ] as const) {
    await commits(name, write(world, "a.txt", `${text}\ntwo\nthree\n`));
    await commits(name, write(world, "b.txt", `${text}\ntwo\nthree\n`));
  }
  await look();
  expect(await warnings(world, "b1")).toHaveLength(1);
  await commits("b1", write(world, "b.txt", "1\ntwo\nthree\n"));
  await look();
  await commits("b3", write(world, "a.txt", "one more\ntwo\nthree\n"));
  await look();
  // b3 is told of one collision, not of one with each of the others.
  expect(await warnings(world, "b3")).toHaveLength(1);
  expect(await warnings(world, "lead")).toHaveLength(2);
  await world.enqueue("overstory/b2/t", { runId: "r1" });
  await world.work();
  await look();
  expect(await warnings(world, "lead")).toHaveLength(2);
});

test("a new commit costs only its own row, and without one nothing is merged at all", async () => {
  const { world, look, commits, merged } = await radarWorld();
  await using _ = world;
  for (const name of ["b1", "b2", "b3", "b4"]) await commits(name, write(world, `${name}.txt`, "new\n"));
  await look();
  // Six pairs of agents, and each with the branch it lands on.
  expect(merged).toEqual([10]);
  await look();
  expect(merged).toEqual([10]);
  await commits("b2", write(world, "b2.txt", "newer\n"));
  await look();
  expect(merged).toEqual([10, 4]);
});

test("looking leaves nothing in the repository", async () => {
  const { world, look, commits, merged } = await radarWorld();
  await using _ = world;
  await commits("b1", write(world, "a.txt", "ONE\ntwo\nthree\n"));
  await commits("b2", write(world, "b.txt", "1\ntwo\nthree\n"));
  const stored = () => world.git(world.root, "count-objects", "-v");
  const before = stored();
  await look();
  expect(merged).toEqual([3]);
  expect(stored()).toBe(before);
});

test("another engine finds what an earlier one has looked at", async () => {
  const { world, look, commits } = await radarWorld();
  await using _ = world;
  for (const name of ["b1", "b2"]) await commits(name, write(world, `${name}.txt`, "new\n"));
  await look();
  const lookAhead = () => Promise.reject(new Error("it merges again"));
  const next = new Radar({ ...world.ports, lookAhead }, () => {});
  await world.store.transaction((tx) => tx.agents.reserve(anAgent("b3", { worktreePath: null, state: "booting" })));
  next.look();
  await next.settled();
  const [ours = "", theirs = ""] = [world.tip("overstory/b1/t"), world.tip("overstory/b2/t")].sort();
  const pair = await world.store.read((tx) => tx.radar.pair(ours, theirs));
  expect(pair).toMatchObject({ outcome: "clean", files: [] });
});

test("what a rule settles is no collision", async () => {
  const { world, look, commits } = await radarWorld({ "a.json": '{\n  "x": 1\n}\n' });
  await using _ = world;
  await commits("b1", write(world, "a.json", '{\n  "x": 1,\n  "y": 2\n}\n'));
  await commits("b2", write(world, "a.json", '{\n  "x": 1,\n  "z": 3\n}\n'));
  expect(await look()).toBe(false);
  const [ours = "", theirs = ""] = [world.tip("overstory/b1/t"), world.tip("overstory/b2/t")].sort();
  const pair = await world.store.read((tx) => tx.radar.pair(ours, theirs));
  expect(pair).toMatchObject({ outcome: "structured", files: ["a.json"] });
});

test("work that collides with what has landed meanwhile is told to its owner", async () => {
  const { world, look, commits } = await radarWorld();
  await using _ = world;
  world.git(world.root, "checkout", "--quiet", "--detach");
  await commits("b1", write(world, "a.txt", "ONE\ntwo\nthree\n"));
  world.git(world.root, "checkout", "--quiet", "--detach");
  await look();
  expect(await warnings(world, "b1")).toEqual([]);
  world.branch("other", write(world, "a.txt", "1\ntwo\nthree\n"));
  world.git(world.root, "checkout", "--quiet", "--detach");
  await world.enqueue("other", { runId: "r1" });
  await world.work();
  await look();
  expect(await warnings(world, "b1")).toEqual(["branches collide: main and overstory/b1/t"]);
});

test("a branch that is gone, released or without commits is not looked at", async () => {
  const { world, look, commits, merged } = await radarWorld();
  await using _ = world;
  for (const name of ["b1", "b2", "b3"]) await commits(name, write(world, "a.txt", `${name}\n`));
  world.git(world.root, "branch", "-D", "overstory/b1/t");
  await world.store.transaction(async (tx) => {
    await tx.agents.release("b2-1", 1);
    await tx.agents.reserve(anAgent("b4", { branch: "overstory/b4/t", headCommit: world.tip("main"), ahead: 0 }));
  });
  await look();
  expect(merged).toEqual([1]);
});

test("the branch of an agent that was stopped, or ended and was replaced, collides with nobody's, unless it lands", async () => {
  const { world, look, commits } = await radarWorld();
  await using _ = world;
  const over = { state: "completed", outcome: "stopped" } as const;
  await world.store.transaction((tx) => tx.tasks.insert(aTask("t", { runId: "r1", claimedBy: "b3" })));
  await commits("b1", write(world, "a.txt", "ONE\ntwo\nthree\n"), over);
  await commits("b2", write(world, "a.txt", "1\ntwo\nthree\n"), { state: "zombie", outcome: "crashed", taskId: "t" });
  await commits("b3", write(world, "a.txt", "first\ntwo\nthree\n"), { taskId: "t" });
  expect(await look()).toBe(false);
  for (const name of ["b1", "b2", "b3", "lead"]) expect(await warnings(world, name)).toEqual([]);
  await world.enqueue("overstory/b1/t", { runId: "r1" });
  await look();
  expect(await warnings(world, "b3")).toEqual(["branches collide: overstory/b1/t and overstory/b3/t"]);
});

test("what had landed before a branch began is no work of its agent", async () => {
  const { world, look, commits } = await radarWorld();
  await using _ = world;
  world.git(world.root, "checkout", "--quiet", "--detach");
  await commits("b1", write(world, "a.txt", "ONE\ntwo\nthree\n"));
  world.git(world.root, "checkout", "--quiet", "--detach");
  world.branch("other", write(world, "a.txt", "1\ntwo\nthree\n"));
  world.git(world.root, "checkout", "--quiet", "--detach");
  await world.enqueue("other", { runId: "r1" });
  await world.work();
  await commits("b2", write(world, "b.txt", "1\ntwo\nthree\n"));
  await look();
  expect(await warnings(world, "b1")).toEqual(["branches collide: main and overstory/b1/t"]);
  expect(await warnings(world, "b2")).toEqual([]);
});

test("what a branch has from the unlanded branch that it began on is no work of its agent", async () => {
  const { world, look, commits } = await radarWorld();
  await using _ = world;
  await commits("b1", write(world, "a.txt", "ONE\ntwo\nthree\n"));
  const baseCommit = world.tip("overstory/b1/t");
  await commits("b2", write(world, "b.txt", "1\ntwo\nthree\n"), { baseCommit });
  await commits("b3", write(world, "a.txt", "1\ntwo\nthree\n"));
  await look();
  expect(await warnings(world, "b1")).toEqual(["branches collide: overstory/b1/t and overstory/b3/t"]);
  expect(await warnings(world, "b2")).toEqual([]);
  await commits("b2", write(world, "a.txt", "ONE!\ntwo\nthree\n"));
  await look();
  expect(await warnings(world, "b2")).toEqual(["branches collide: overstory/b2/t and overstory/b3/t"]);
});
