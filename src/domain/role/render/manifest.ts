import type { RoleSpec } from "../role-spec.ts";
import { roleList } from "../roles.ts";

interface ManifestRow {
  readonly file: string;
  readonly model: string;
  readonly tools: readonly string[];
  readonly capabilities: readonly string[];
  readonly canSpawn: boolean;
  readonly constraints: readonly string[];
}

export interface Manifest {
  readonly version: "1.0";
  readonly agents: Readonly<Record<string, ManifestRow>>;
  /** Which agents have a word, the inverse of `capabilities`. */
  readonly capabilityIndex: Readonly<Record<string, readonly string[]>>;
}

/** `agent-manifest.json`, for tools that read it. */
export function renderManifest(): Manifest {
  const index: Record<string, string[]> = {};
  for (const { capability, words } of roleList) {
    for (const word of words) index[word] = [...(index[word] ?? []), capability];
  }
  return {
    version: "1.0",
    agents: Object.fromEntries(roleList.map((role) => [role.capability, rowOf(role)])),
    capabilityIndex: index,
  };
}

function rowOf({ capability, model, programTools, words, spawns, access }: RoleSpec): ManifestRow {
  return {
    file: `${capability}.md`,
    model,
    tools: programTools,
    capabilities: words,
    canSpawn: spawns.length > 0,
    constraints: [
      ...(access.files === "read-only" ? ["read-only"] : []),
      ...(access.place === "root" ? ["no-worktree"] : []),
    ],
  };
}
