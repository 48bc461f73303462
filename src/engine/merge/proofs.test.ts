import { expect, test } from "bun:test";
import { aCriterion } from "../../../testkit/contracts/store/rows.ts";
import { type LandingWorld, landingWorld } from "../../../testkit/landing-world.ts";
import { activeRun } from "../../../testkit/use-case.ts";
import { requestUndo } from "../../usecases/merge/landing/request-undo.ts";
import { lookForProofs } from "./proofs.ts";

const landing = "overstory/integration/run-1";

/** A run that began at main, with criteria that a.txt and c.txt show. */
async function provedWorld(): Promise<LandingWorld> {
  const world = await landingWorld({ files: { "a.txt": "a\n", "c.txt": "c\n" } });
  world.git(world.root, "branch", landing, "main");
  const start = world.tip(landing);
  const facts = { checklist: true, startCommit: start, targetBranch: "main", landingBranch: landing };
  const proof = { runId: "run-1", proofKind: "file", provedAt: 1, provedBy: "coordinator" } as const;
  const seen = { checkedCommit: start, proofUnchanged: true } as const;
  await world.store.transaction(async (tx) => {
    await tx.runs.insert({ ...activeRun("run-1", 1), objective: "Do it", ...facts });
    await tx.criteria.put(aCriterion(1, { ...proof, ...seen, proofPath: "a.txt" }));
    await tx.criteria.put(aCriterion(2, { ...proof, ...seen, proofPath: "c.txt" }));
  });
  return world;
}

const criteriaOf = (world: LandingWorld) => world.store.read((tx) => tx.criteria.of("run-1"));

test("a landing that changes one proof and deletes another is seen, whatever moved the branch", async () => {
  await using world = await provedWorld();
  world.branch("work", () => {
    world.write(world.root, "a.txt", "another a\n");
    world.git(world.root, "rm", "--quiet", "c.txt");
  });
  await world.enqueue("work", { targetBranch: landing });
  await world.work();
  const landed = world.tip(landing);
  expect(await criteriaOf(world)).toMatchObject([
    { checkedCommit: landed, proofUnchanged: false, proofLost: null },
    { proofLost: `does not exist on ${landing} any more` },
  ]);
  const events = await world.store.read((tx) => tx.events.after(0, 1000));
  expect(events.filter(({ type }) => type === "proof_lost")).toHaveLength(1);
  await lookForProofs(world.ports);
  const again = await world.store.read((tx) => tx.events.after(0, 1000));
  expect(again).toHaveLength(events.length);
});

test("what is taken back of a run that has ended shows nothing any more; what changes later does not matter to it", async () => {
  await using world = await provedWorld();
  world.branch("work", () => world.write(world.root, "d.txt", "d\n"), landing);
  const id = await world.enqueue("work", { targetBranch: landing, runId: "run-1" });
  await world.work();
  const at = world.tip(landing);
  await world.store.transaction(async (tx) => {
    await tx.criteria.put(
      aCriterion(3, {
        ...{ runId: "run-1", proofKind: "file", provedAt: 1, provedBy: "coordinator" },
        ...{ proofPath: "d.txt", checkedCommit: at, proofUnchanged: true },
      }),
    );
    await tx.runs.complete("run-1", "completed", world.ports.clock.now(), []);
  });
  world.branch("later", () => world.git(world.root, "rm", "--quiet", "c.txt"), landing);
  await world.enqueue("later", { targetBranch: landing });
  await world.work();
  expect((await criteriaOf(world)).map(({ proofLost }) => proofLost)).toEqual([null, null, null]);
  await world.call(requestUndo, { of: String(id) });
  await world.work();
  expect((await criteriaOf(world))[2]).toMatchObject({ proofLost: `does not exist on ${landing} any more` });
});

test("evidence that was given while git was asked counts", async () => {
  await using world = await provedWorld();
  world.git(
    world.root,
    "update-ref",
    `refs/heads/${landing}`,
    world.git(world.root, "commit-tree", "-m", "none", "4b825dc642cb6eb9a060e54bf8d69288fbee4904").trim(),
  );
  const { merging } = world.ports;
  const objectsAt: typeof merging.objectsAt = async (places) => {
    await world.store.transaction(async (tx) => {
      const [first] = await tx.criteria.of("run-1");
      if (first !== undefined) await tx.criteria.put({ ...first, provedAt: 2 });
    });
    return merging.objectsAt(places);
  };
  await lookForProofs({ ...world.ports, merging: { ...merging, objectsAt } });
  const [first] = await criteriaOf(world);
  expect(first).toMatchObject({ provedAt: 2, proofLost: null });
});

test("one process looks at all files that show something, and reads none of them", async () => {
  await using world = await provedWorld();
  world.branch(landing, () => world.write(world.root, "a.txt", "another a\n"));
  const { merging } = world.ports;
  const asked: string[] = [];
  const counting = new Proxy(merging, {
    get: (git, name: keyof typeof merging) => {
      asked.push(name);
      return git[name];
    },
  });
  await lookForProofs({ ...world.ports, merging: counting });
  expect(asked).toEqual(["commitOf", "objectsAt"]);
  expect(await criteriaOf(world)).toMatchObject([
    { proofUnchanged: false, proofLost: null },
    { proofUnchanged: true, proofLost: null },
  ]);
});
