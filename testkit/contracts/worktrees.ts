import { describe } from "bun:test";
import type { WorktreeKind } from "../../src/domain/agent/agent.ts";
import type { Worktrees } from "../../src/ports/worktrees.ts";
import { keepingPromises } from "./worktrees/keeping.ts";
import { makingPromises } from "./worktrees/making.ts";
import { removingPromises } from "./worktrees/removing.ts";
import { worktreeSetting } from "./worktrees/world.ts";

/** What every kind of worktree promises, on real git. */
export function worktreeContract(kind: Exclude<WorktreeKind, "root">, open: (root: string) => Worktrees): void {
  const setting = worktreeSetting(kind, open);
  describe(`the worktree contract for ${kind} worktrees`, () => {
    describe("making", () => makingPromises(setting));
    describe("keeping", () => keepingPromises(setting));
    describe("removing", () => removingPromises(setting));
  });
}
