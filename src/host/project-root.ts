import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Failure } from "../domain/failure.ts";

export interface RootQuestion {
  /** `--project`, when typed. */
  readonly project: string | undefined;
  /** `OVERSTORY_PROJECT_ROOT`, when set. */
  readonly fromEnvironment: string | undefined;
  readonly cwd: string;
}

const config = join(".overstory", "config.yaml");

/**
 * The project a command speaks of: as typed, else as the environment says, else the nearest directory upwards that has
 * been initialised. Never asks git: a process would cost more than the command. A worktree of an agent lies below the
 * root's own `.overstory/`, so its tracked copy of the configuration must not be taken for a project.
 */
export function findProjectRoot({ project, fromEnvironment, cwd }: RootQuestion): string {
  if (project !== undefined) {
    const root = resolve(cwd, project);
    if (!existsSync(join(root, config))) throw new Failure({ kind: "not-initialised", root });
    return root;
  }
  if (fromEnvironment !== undefined && fromEnvironment !== "") return fromEnvironment;
  const inside = cwd.indexOf(`${join("/", ".overstory", "worktrees")}/`);
  for (let dir = inside === -1 ? cwd : cwd.slice(0, inside); ; dir = dirname(dir)) {
    if (existsSync(join(dir, config))) return mainCheckout(dir) ?? dir;
    if (dir === dirname(dir)) throw new Failure({ kind: "not-initialised", root: cwd });
  }
}

/** A linked worktree has a `.git` file that names the main checkout's git directory. */
function mainCheckout(dir: string): string | undefined {
  const git = statSync(join(dir, ".git"), { throwIfNoEntry: false });
  if (git === undefined || git.isDirectory()) return undefined;
  const pointer = /^gitdir: (.*)\/\.git\/worktrees\/[^/]+\s*$/.exec(readFileSync(join(dir, ".git"), "utf8"));
  const root = pointer?.[1];
  return root !== undefined && existsSync(join(root, config)) ? root : undefined;
}
