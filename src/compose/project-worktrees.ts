import { gitWorktrees } from "../host/git/worktrees.ts";
import { placedPaths } from "../host/instruction-files.ts";
import type { WorktreeKeeping } from "../ports/worktrees.ts";
import type { Project } from "./project.ts";
import { runtimeNames } from "./runtime-names.ts";
import { runtimeById } from "./runtimes.ts";

/** Apart from the rest of the project: no hot command needs git. */
export const projectWorktrees = (project: Project): WorktreeKeeping =>
  gitWorktrees(project.root, {
    maxFileBytes: project.config.snapshot.maxFileBytes,
    include: project.config.worktree.include,
    deployed: runtimeNames.flatMap((name) => placedPaths(runtimeById(name)?.instructionFile ?? "")),
  });
