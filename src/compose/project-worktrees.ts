import { gitWorktrees } from "../host/git/worktrees.ts";
import { placedPaths } from "../host/instruction-files.ts";
import type { WorktreeKeeping } from "../ports/worktrees.ts";
import type { Project } from "./project.ts";
import { runtimeNames } from "./runtime-names.ts";
import { runtimeById } from "./runtimes.ts";

/** Apart from the rest of the project: no hot command needs git. */
export const projectWorktrees = (project: Project): WorktreeKeeping =>
  gitWorktrees(project.root, worktreeOptions(project));

/** What counts as work in the worktrees of this project. */
export const worktreeOptions = ({ config, dir }: Pick<Project, "config" | "dir">) => ({
  state: dir,
  maxFileBytes: config.snapshot.maxFileBytes,
  include: config.worktree.include,
  deployed: runtimeNames.flatMap((name) => placedPaths(runtimeById(name)?.instructionFile ?? "")),
});
