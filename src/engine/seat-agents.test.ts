import { expect, test } from "bun:test";
import { seatThree } from "../../testkit/seat-world.ts";
import { Failure } from "../domain/failure.ts";

test("an agent whose seat breaks ends and its parent is told, and those behind it are seated", async () => {
  const broken = new Error("git fell over");
  const { states, reported, told, mail } = await seatThree(broken);
  expect(states).toEqual(["booting/null/seated", "zombie/start_failed/no worktree", "booting/null/seated"]);
  expect({ reported, told }).toEqual({ reported: [broken], told: 3 });
  expect(mail).toEqual([
    {
      subject: "[ENGINE] could not start b2",
      body: "b2 (builder) has no worktree: git fell over. Its task is open again.",
    },
  ]);
});

test("a full disk is no failure of the agent that met it: it waits for the next pass", async () => {
  const full = new Failure({ kind: "disk-full", path: null });
  const { states, reported, mail } = await seatThree(full);
  expect(states).toEqual(["booting/null/seated", "booting/null/no worktree", "booting/null/seated"]);
  expect({ reported, mail }).toEqual({ reported: [full], mail: [] });
});
