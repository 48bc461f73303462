import { keepCopies } from "../config/compile.ts";
import { renderDefaultConfig } from "../config/render.ts";
import { configFiles } from "../config/sources.ts";
import { branchName } from "../domain/name/name.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import { projectSetup } from "../host/project/project-setup.ts";
import type { Repository } from "../host/project/repository.ts";
import type { ProjectSetup } from "../ports/project-setup.ts";
import { openSqlite } from "../store/sqlite.ts";
import { bindProject, recordPlace } from "./bind-project.ts";
import { directChannel } from "./channel.ts";
import { type Environment, openProject, openStore, refuseLostStore } from "./project.ts";
import { runtimeById } from "./runtimes.ts";

/** The set-up of a repository, with the adapters it needs. */
export const repositorySetup = (repository: Repository, env: Environment): ProjectSetup =>
  projectSetup({
    repository,
    env,
    isBranchName: branchName.fits,
    renderSettings: renderDefaultConfig,
    keepSettings: keepCopies,
    lastKnownSettings: (place) => configFiles(place).lastKnown.project,
    openDatabase: (path) => openSqlite({ path, life: "command" }).close(),
    refuseLostDatabase: refuseLostStore,
    bind: (found) => bindProject(found, env, { adopt: true }),
    record: (place) => recordPlace(place, env),
    stopAgents: (place) => stopAgents(place, env),
    programOf: (runtime) => runtimeById(runtime)?.program,
  });

/** The agents of a copy worked in the original. Here they end, with their copied worktrees kept. */
async function stopAgents(place: ProjectPlace, env: Environment): Promise<number> {
  const project = await openProject(place, env);
  const channel = directChannel(project);
  try {
    const store = openStore(project, { life: "command", readOnly: true });
    const live = await store.read((tx) => tx.agents.list({ live: true }));
    await store.close();
    for (const { name } of live) await channel.call({ name: "agent.requestStop", request: { name, tree: false } });
    return live.length;
  } finally {
    await channel.close();
  }
}
