import { expect, test } from "bun:test";
import { gitMergeWorld } from "../../../../testkit/git-merge-world.ts";
import { earlierLandings, landingPlace } from "./landing-target.ts";

test("work lands where unpromoted work waits, else at the target's tip, for every caller", async () => {
  using world = gitMergeWorld();
  const write = (name: string) => () => world.write(world.root, name, "x\n");
  const old = world.tip("main");
  world.git(world.root, "branch", "behind", old);
  const ahead = world.branch("ahead", write("ahead.txt"));
  world.branch("main", write("main.txt"));
  const tip = world.tip("main");
  world.git(world.root, "branch", "level", tip);

  expect(await landingPlace(world.merging, "none", tip)).toEqual({ from: null, at: tip });
  expect(await landingPlace(world.merging, "level", tip)).toEqual({ from: tip, at: tip });
  expect(await landingPlace(world.merging, "behind", tip)).toEqual({ from: old, at: tip });
  expect(await landingPlace(world.merging, "ahead", tip)).toEqual({ from: ahead, at: ahead });
  expect(await earlierLandings(world.merging, ["behind", "none", "ahead"], tip)).toEqual([
    { branch: "behind", promoted: true },
    { branch: "ahead", promoted: false },
  ]);
});
