import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Rung } from "../domain/merge/ladder.ts";
import type { MergePorts } from "../engine/merge/ports.ts";
import { resolver } from "../engine/merge/resolve.ts";
import { gateRunner, saveChangedFiles } from "../host/gates/gate-runner.ts";
import { gitMerging } from "../host/git/merging.ts";
import { type OpenRepository, openRepository } from "../host/git/repository.ts";
import { scratchMerging } from "../host/git/scratch-merging.ts";
import { randomIds } from "../host/ids.ts";
import { gatePlaces } from "../host/project-place.ts";
import type { MergeGit, SettlingGit } from "../ports/merge-git.ts";
import type { Store } from "../ports/store.ts";
import type { World } from "../usecases/operation.ts";
import { sandboxOf } from "./agent-parts.ts";
import { openStore, type Project } from "./project.ts";

const projectMerging = (
  { root, dir, config }: Pick<Project, "root" | "dir" | "config">,
  repository: OpenRepository,
): MergeGit =>
  gitMerging(root, {
    repository,
    poolDir: gatePlaces(root),
    scratch: join(dir, "run", "git"),
    mergeLimitMs: config.merge.timeoutMs,
  });

type MergingParts = Pick<
  MergePorts,
  "merging" | "gateRunner" | "resolve" | "lookAhead" | "saveChangedFiles" | "readFile" | "mergeLogDir"
>;

/** What the engine merges with. */
export function mergingParts(project: Project, store: Store, repository: OpenRepository): MergingParts {
  const merging = projectMerging(project, repository);
  // Loaded with the first conflict: its parsers take as long to load as everything else an engine needs to start.
  let known: Promise<readonly Rung[]> | undefined;
  const rungs = (): Promise<readonly Rung[]> => {
    known ??= import("../engine/merge/ladder.ts").then(({ ladder }) =>
      ladder(project.config.merge, { store, ids: randomIds }),
    );
    return known;
  };
  const byRule =
    (git: Pick<MergeGit, "readBlob" | "isUnion">): MergePorts["resolve"] =>
    async (conflict) =>
      resolver(git, await rungs())(conflict);
  return {
    merging,
    gateRunner: gateRunner({
      env: project.env,
      redactSecrets: project.config.logging.redactSecrets,
      confine: sandboxOf(project).forGate,
    }),
    resolve: byRule(merging),
    lookAhead: async (look) => {
      using git = await scratchMerging(project.root, join(project.dir, "run", "git"));
      return await look({ merging: git, resolve: byRule(git) });
    },
    saveChangedFiles,
    readFile: async (path) =>
      lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path) : undefined,
    mergeLogDir: (id) => join(project.dir, "logs", "merge", id),
  };
}

/** Settling conflicts by a person's choice, and by the rules where they are sure. */
export async function settlingGitOf(project: Project, opened?: () => Store): Promise<SettlingGit> {
  const git = projectMerging(project, openRepository(project.root));
  const { ladder } = await import("../engine/merge/ladder.ts");
  const store: Pick<Store, "read"> = {
    read: async (look) => {
      if (opened !== undefined) return opened().read(look);
      const own = openStore(project, { life: "command", readOnly: true });
      try {
        return await own.read(look);
      } finally {
        await own.close();
      }
    },
  };
  return { ...git, resolve: resolver(git, ladder(project.config.merge, { store, ids: randomIds })) };
}

/** Looking ahead from a command, in a place outside of the project; remembered answers are read while it looks. */
export const lookAheadOf =
  (project: Project, opened?: () => Store): World["lookAhead"] =>
  async (look) => {
    using git = await scratchMerging(project.root);
    let store: Store | undefined;
    const resolve: MergePorts["resolve"] = async (conflict) => {
      store ??= opened?.() ?? openStore(project, { life: "command", readOnly: true });
      const { ladder } = await import("../engine/merge/ladder.ts");
      return resolver(git, ladder(project.config.merge, { store, ids: randomIds }))(conflict);
    };
    try {
      return await look({ ...git, resolve });
    } finally {
      if (opened === undefined) await store?.close();
    }
  };
