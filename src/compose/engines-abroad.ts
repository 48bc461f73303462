import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeAtomically } from "../host/atomic-file.ts";
import { placeAround, stateDir } from "../host/project-place.ts";
import type { Store } from "../ports/store.ts";
import { contactOf, type Environment, type Project } from "./project.ts";

const askedDir = (state: string): string => join(state, "run", "abroad");

/**
 * Asks the engine of the project at `home` to start one for the project at `root`: an orchestrator gave work there, and
 * an engine that it started itself would carry its mark and die with its turn.
 */
export async function askForEngine(home: string, root: string, env: Environment): Promise<void> {
  const state = stateDir(home);
  const dir = askedDir(state);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const name = new Bun.CryptoHasher("sha256").update(root).digest("hex");
  writeAtomically(join(dir, name), root, 0o600);
  await contactOf({ root: home, dir: state, env }).wake();
}

/**
 * Starts the engines that were asked for. A request counts only while an orchestrator has a turn; any other is deleted.
 */
export async function startEnginesAbroad(project: Project, store: Store): Promise<void> {
  const dir = askedDir(project.dir);
  for (const name of filesIn(dir)) {
    try {
      if (!(await anOrchestratorWorks(store))) continue;
      const { root, state } = placeAround(readFileSync(join(dir, name), "utf8"));
      const env = Object.fromEntries(Object.entries(project.env).filter(([key]) => !key.startsWith("OVERSTORY__")));
      await contactOf({ root, dir: state, env }).ensure();
    } finally {
      rmSync(join(dir, name), { force: true });
    }
  }
}

/** The names of complete request files. A file that is still being written has a name of another form. */
const filesIn = (dir: string): readonly string[] =>
  existsSync(dir) ? readdirSync(dir).filter((name) => /^[0-9a-f]{64}$/.test(name)) : [];

const anOrchestratorWorks = (store: Store): Promise<boolean> =>
  store.read(async (tx) => {
    for (const { agentId } of await tx.turns.running()) {
      if ((await tx.agents.get(agentId))?.capability === "orchestrator") return true;
    }
    return false;
  });
