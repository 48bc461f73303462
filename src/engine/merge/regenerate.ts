import type { Conflict } from "../../domain/merge/ladder.ts";
import type { ResolvedFile } from "../../ports/merge-git.ts";
import { environmentsOf, type GatedWork } from "../../usecases/gates/environments.ts";
import { commandFor } from "../../usecases/merge/generated-files.ts";
import { gatePorts } from "./checks.ts";
import { keepTerms, type MergePorts } from "./ports.ts";
import type { Slots } from "./slots.ts";

/** Lock files of large projects take a while. */
const limitMs = 600_000;

export interface Generated {
  /** Everything else settled, with our version of the generated files in it. */
  readonly tree: string;
  readonly parent: string;
  readonly conflicts: readonly Conflict[];
  /** What brings the conflict: its commands run as its makers do. */
  readonly work: GatedWork;
  readonly slots: Slots;
  readonly signal: AbortSignal;
}

/**
 * Makes generated files again from what both sides brought, in a checkout of exactly that. The command is code of the
 * project: it runs as gates do. Undefined for a file that was not made.
 */
export async function regenerate(
  ports: MergePorts,
  generated: Generated,
): Promise<readonly (ResolvedFile | undefined)[]> {
  const { merging } = ports;
  const { tree, parent, conflicts, work, slots, signal } = generated;
  const environments = await ports.store.read((tx) => environmentsOf(tx, [work]));
  const commit = await merging.commit({ tree, parents: [parent], message: "to be made again\n" });
  return slots.use(async (slot) => {
    const { path: root } = await merging.checkOut(slot, commit, keepTerms(ports, parent));
    const made: (ResolvedFile | undefined)[] = [];
    const ran = new Set<string>();
    for (const { path, ours } of conflicts) {
      const command = commandFor(ports.rules, path) ?? "false";
      const directory = path.includes("/") ? `${root}/${path.slice(0, path.lastIndexOf("/"))}` : root;
      const key = `${directory}\0${command}`;
      const passed = ran.has(key) || (await run(ports, { command, cwd: directory, environments, signal }));
      if (passed) ran.add(key);
      const content = passed ? await ports.readFile(`${root}/${path}`) : undefined;
      made.push(content === undefined ? undefined : { path, mode: ours?.mode ?? "100644", content });
    }
    return made;
  });
}

interface Making {
  readonly command: string;
  readonly cwd: string;
  readonly environments: readonly string[];
  readonly signal: AbortSignal;
}

async function run(ports: MergePorts, { command, cwd, environments, signal }: Making): Promise<boolean> {
  const { newRun, recordProcess } = gatePorts(ports);
  const commandRun = newRun();
  let noteEnd: (() => Promise<void>) | undefined;
  const logDir = ports.mergeLogDir(ports.ids.next("made"));
  try {
    const { status } = await ports.gateRunner.run({
      run: commandRun,
      gate: { name: "regenerate", command, timeoutMs: limitMs, required: true, paths: [] },
      cwd,
      logPath: `${logDir}/regenerate.log`,
      env: {},
      environments,
      signal,
      onStart: async (identity) => {
        noteEnd = await recordProcess(identity, commandRun);
      },
    });
    return status === "passed";
  } finally {
    await noteEnd?.();
  }
}
