import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { everything, prepared } from "../../../../testkit/checkout-to-move.ts";
import type { GitMergeWorld } from "../../../../testkit/git-merge-world.ts";

describe("a plan that no move of ours has made", () => {
  interface Planted {
    readonly world: GitMergeWorld;
    readonly victim: string;
  }
  /** As an attacker would write it, under the name that a plan for this checkout has. */
  function plant({ world, victim }: Planted, change: (plan: Record<string, unknown>) => Record<string, unknown>): void {
    const moves = join(world.scratch, "moves");
    const dir = join(moves, "move-planted");
    mkdirSync(join(dir, "files"), { recursive: true });
    mkdirSync(join(dir, "aside"));
    mkdirSync(victim, { recursive: true });
    writeFileSync(join(victim, "precious.txt"), "precious\n");
    const gitDir = join(world.root, ".git");
    const tips = { from: world.tip("main"), to: world.tip("next") };
    const about = { checkout: world.root, gitDir, commonDir: gitDir, ref: "refs/heads/main", ...tips };
    const plan = change({ ...about, dir, index: null, steps: [], verified: true, back: null });
    const name = new Bun.CryptoHasher("sha256").update(String(plan.checkout)).digest("hex").slice(0, 16);
    writeFileSync(join(moves, `${name}.json`), JSON.stringify(plan));
  }

  const step = (path: string) => ({ path, kind: "remove", before: null, staged: null });
  const forgeries: readonly (readonly [string, (planted: Planted, plan: Record<string, unknown>) => object])[] = [
    ["that would delete a directory of others", ({ victim }) => ({ dir: victim, verified: false })],
    [
      "that leads out of the checkout",
      ({ victim }) => ({ steps: [step(`../${victim.split("/").at(-1)}/precious.txt`)] }),
    ],
    ["that writes into the git directory", () => ({ steps: [step(".git/config")] })],
    ["for a directory that is no checkout", ({ victim }) => ({ checkout: victim })],
    ["for a checkout of another git directory", ({ victim }) => ({ gitDir: victim })],
    ["that moves something else than a branch", () => ({ ref: "refs/heads/../../config" })],
    ["without steps", () => ({ steps: null })],
  ];
  for (const [what, forge] of forgeries) {
    test(`${what} is put aside and named, and never followed`, async () => {
      const { world } = prepared();
      using _ = world;
      const planted = { world, victim: join(world.root, "..", "victim") };
      const before = everything(world);
      plant(planted, (plan) => ({ ...plan, ...forge(planted, plan) }));
      await expect(world.merging.finishMoves()).rejects.toThrow("is not one of ours");
      expect(readFileSync(join(planted.victim, "precious.txt"), "utf8")).toBe("precious\n");
      expect(everything(world)).toEqual(before);
      expect(readdirSync(join(world.scratch, "moves")).filter((name) => name.endsWith(".refused"))).toHaveLength(1);
      expect(await world.merging.finishMoves()).toEqual([]);
    });
  }

  test("that is no JSON is put aside as well, and the next move works", async () => {
    const { world, from, to } = prepared();
    using _ = world;
    mkdirSync(join(world.scratch, "moves"), { recursive: true });
    writeFileSync(join(world.scratch, "moves", "0123456789abcdef.json"), "{");
    await expect(world.merging.finishMoves()).rejects.toThrow("it is no JSON");
    expect(await world.merging.moveCheckout({ checkout: world.root, from, to })).toEqual({ kind: "done" });
  });
});
