import { expect, test } from "bun:test";
import { aTask } from "../../testkit/contracts/store/rows.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";

const adds = (world: LandingWorld, branch: string, file = `${branch}.txt`, text = `${branch}\n`): string =>
  world.branch(branch, () => world.write(world.root, file, text));

test.each([true, false])(
  "merge.structured.enabled: %p decides whether structure settles a conflict",
  async (enabled) => {
    const base = "export const one = (): number => 1;\n";
    await using world = await landingWorld({
      files: { "x.ts": base },
      gates: ["true"],
      merge: { structured: { enabled } },
    });
    adds(world, "a", "x.ts", `${base}\nexport function two(): number {\n  return 2;\n}\n`);
    adds(world, "b", "x.ts", `${base}\nexport function three(): number {\n  return 3;\n}\n`);
    await world.enqueue("a");
    const id = await world.enqueue("b");
    await world.work();
    expect((await world.entry(id)).status).toBe(enabled ? "merged" : "conflict");
  },
);

test.each([true, false])("merge.runGitHooks: %p decides whether the project's hooks are asked", async (runGitHooks) => {
  await using world = await landingWorld({ gates: ["true"], merge: { runGitHooks } });
  world.hook("pre-merge-commit", "exit 1");
  adds(world, "a");
  const id = await world.enqueue("a");
  await world.work();
  expect((await world.entry(id)).status).toBe(runGitHooks ? "failed" : "merged");
});

test.each([true, false])("merge.closeTask: %p decides whether landing a branch closes its task", async (closeTask) => {
  await using world = await landingWorld({ gates: ["true"], merge: { closeTask } });
  await world.store.transaction((tx) => tx.tasks.insert(aTask("T1", { status: "in_progress" })));
  adds(world, "a");
  const id = await world.enqueue("a", { taskId: "T1" });
  await world.work();
  expect((await world.entry(id)).status).toBe("merged");
  const task = await world.store.read((tx) => tx.tasks.get("T1"));
  expect(task?.status).toBe(closeTask ? "closed" : "in_progress");
});
