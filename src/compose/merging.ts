import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { identicalRung } from "../domain/merge/ladder/identical.ts";
import { readsAsData } from "../domain/merge/ladder/reads.ts";
import { rememberedRung } from "../domain/merge/ladder/remembered.ts";
import { structuredRung } from "../domain/merge/ladder/structured.ts";
import type { Rung } from "../domain/merge/ladder/triple.ts";
import { unionRung } from "../domain/merge/ladder/union.ts";
import type { MergePorts } from "../engine/merge/ports.ts";
import { resolver } from "../engine/merge/resolve.ts";
import { saveChangedFiles } from "../host/gates/changed-files.ts";
import { gateRunner } from "../host/gates/gate-runner.ts";
import { gitMerging } from "../host/git/merge/merging.ts";
import { scratchMerging } from "../host/git/merge/scratch.ts";
import { randomIds } from "../host/ids.ts";
import { parseYaml } from "../host/syntax/yaml-tree.ts";
import type { MergeGit } from "../ports/merge-git.ts";
import type { MergeSettings } from "../ports/settings.ts";
import type { Store } from "../ports/store.ts";
import { mergeCodeAt } from "./merge-code.ts";
import type { Project } from "./project.ts";

export const projectMerging = ({ root, dir }: Pick<Project, "root" | "dir">): MergeGit =>
  gitMerging(root, { poolDir: join(dir, "merge-worktrees"), scratch: join(dir, "run", "git") });

type MergingParts = Pick<
  MergePorts,
  "merging" | "gateRunner" | "resolve" | "lookAhead" | "saveChangedFiles" | "readFile" | "mergeLogDir"
>;

/** What the engine merges with. */
export function mergingParts(project: Project, store: Store): MergingParts {
  const merging = projectMerging(project);
  const rungs = ladder(project, store);
  return {
    merging,
    gateRunner: gateRunner({ env: project.env }),
    resolve: resolver(merging, rungs),
    lookAhead: async (look) => {
      using git = await scratchMerging(project.root, join(project.dir, "run", "git"));
      return await look({ merging: git, resolve: resolver(git, rungs) });
    },
    saveChangedFiles,
    readFile: async (path) =>
      lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path) : undefined,
    mergeLogDir: (id) => join(project.dir, "logs", "merge", id),
  };
}

interface LadderSettings {
  readonly config: { readonly merge: Pick<MergeSettings, "structured"> };
}

/** The rules for conflicts that git could not settle, surest first. Tiers with a model join at its end. */
export function ladder({ config }: LadderSettings, store: Pick<Store, "read">): readonly Rung[] {
  const recall = async (fingerprint: string): Promise<readonly string[] | undefined> => {
    const known = await store.read((tx) => tx.resolutions.get(fingerprint));
    return known === undefined || known.bad > 0 ? undefined : (JSON.parse(known.content) as readonly string[]);
  };
  return [
    identicalRung,
    unionRung({ parseYaml }),
    rememberedRung({
      digest: randomIds.digest,
      recall,
      reads: async (path, content) => readsAsData(path, content, parseYaml),
    }),
    ...(config.merge.structured.enabled ? [structuredRung({ parseYaml, mergeCode: mergeCodeAt })] : []),
  ];
}
