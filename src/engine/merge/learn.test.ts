import { expect, test } from "bun:test";
import { type LandingWorld, landingWorld } from "../../../testkit/landing-world.ts";

const text = (second: string, last = "five"): string => `one\n${second}\nthree\nfour\n${last}\n`;
const landing = "overstory/integration/r1";

/** `a` has landed, `b` was sent back for the same line, and lands after somebody settled it. */
async function settledWorld(options: Parameters<typeof landingWorld>[0] = {}) {
  const world = await landingWorld({ files: { "a.txt": text("two") }, ...options });
  world.git(world.root, "branch", landing, "main");
  const to = { targetBranch: landing };
  world.branch("a", () => world.write(world.root, "a.txt", text("A")));
  await world.enqueue("a", to);
  await world.work();
  const afterA = world.tip(landing);
  world.branch("b", () => world.write(world.root, "a.txt", text("B")));
  const refused = await world.enqueue("b", to);
  await world.work();
  expect(await world.entry(refused)).toMatchObject({ status: "conflict" });
  settle(world, "b", text("A and B"));
  const settled = await world.enqueue("b", to);
  await world.work();
  expect(await world.entry(settled)).toMatchObject({ status: "merged" });
  return { world, afterA, settled };
}

/** Brings a branch up to date as an agent would, with this as the file's new text. */
function settle(world: LandingWorld, branch: string, content: string): void {
  const git = (...args: string[]): string => world.git(world.root, ...args);
  git("checkout", "--quiet", branch);
  git("merge", "--quiet", "--no-commit", "-s", "ours", landing);
  world.write(world.root, "a.txt", content);
  git("add", "-A");
  git("commit", "--quiet", "-m", "bring up to date");
  git("checkout", "--quiet", "--force", "main");
}

/** The same conflict once more, with another line of the file changed besides. */
async function again(world: LandingWorld, name: string, base: string): Promise<number> {
  world.git(world.root, "branch", `landing-${name}`, base);
  world.branch(name, () => world.write(world.root, "a.txt", text("B", "FIVE")));
  const id = await world.enqueue(name, { targetBranch: `landing-${name}` });
  await world.work();
  return id;
}

test("a conflict that was settled by hand is settled the same way when it comes again", async () => {
  const { world, afterA } = await settledWorld();
  await using _ = world;
  const id = await again(world, "c", afterA);
  expect(await world.entry(id)).toMatchObject({ status: "merged", tier: "auto-resolve", strategy: "remembered" });
  expect(`${world.show("landing-c", "a.txt")}\n`).toBe(text("A and B", "FIVE"));
});

test("an answer that was taken back is not given again", async () => {
  const { world, afterA, settled } = await settledWorld();
  await using _ = world;
  expect((await world.undo(String(settled))).status).toBe("done");
  expect(await world.entry(await again(world, "c", afterA))).toMatchObject({ status: "conflict" });
});

test("taking back a landing that used an answer takes back the answer", async () => {
  const { world, afterA } = await settledWorld();
  await using _ = world;
  const used = await again(world, "c", afterA);
  expect((await world.undo(String(used))).status).toBe("done");
  expect(await world.entry(await again(world, "d", afterA))).toMatchObject({ status: "conflict" });
});

test("an answer that a gate refused is not given again", async () => {
  const { world, afterA } = await settledWorld({ gates: ["! grep -q FIVE a.txt"] });
  await using _ = world;
  expect(await world.entry(await again(world, "c", afterA))).toMatchObject({ status: "failed", cause: "gate_failed" });
  expect(await world.entry(await again(world, "d", afterA))).toMatchObject({ status: "conflict" });
});
