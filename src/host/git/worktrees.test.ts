import { worktreeContract } from "../../../testkit/contracts/worktrees.ts";
import { gitWorktrees } from "./worktrees.ts";

for (const kind of ["linked", "clone"] as const) {
  worktreeContract(kind, (root) => gitWorktrees(root, { maxFileBytes: 1_000 }));
}
