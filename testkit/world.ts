import { lookAheadOf } from "../src/compose/merging.ts";
import type { Project } from "../src/compose/project.ts";
import { quickGit } from "../src/host/git/quick-git.ts";
import { linuxProcesses } from "../src/host/processes.ts";
import { inMemory, openSqlite } from "../src/store/sqlite.ts";
import type { World } from "../src/usecases/operation.ts";

/**
 * The world of an effect under test: real time and real processes, and the ports of the test; all others are refused.
 */
export function worldWith(parts: Partial<World>): World {
  const given: Partial<World> = {
    warn: () => {},
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        const wake = (): void => {
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(wake, ms);
        signal?.addEventListener("abort", wake, { once: true });
      }),
    expectLongWork: () => {},
    fullDisk: () => undefined,
    processes: async () => linuxProcesses,
    ...parts,
  };
  return new Proxy(given, {
    get: (target, name) => {
      if (name in target) return Reflect.get(target, name);
      throw new Error(`the test gave its effect no ${String(name)}`);
    },
    // Every property that is read was given, or the read throws.
  }) as World;
}

/** Looking ahead in a repository, with every rule and nothing remembered. */
export function lookAheadIn(root: string): World["lookAhead"] {
  // What looking ahead reads of a project.
  const project = { root, config: { merge: { structured: { enabled: true } } } } as Project;
  const store = openSqlite({ path: inMemory, life: "process" });
  return lookAheadOf(project, () => store);
}

/** Looks at a repository that start no git process, or one. */
export const quickGitIn = quickGit;
