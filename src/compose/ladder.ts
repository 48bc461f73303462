import { identicalRung } from "../domain/merge/ladder/identical.ts";
import { readsAsData } from "../domain/merge/ladder/reads.ts";
import { rememberedRung } from "../domain/merge/ladder/remembered.ts";
import { structuredRung } from "../domain/merge/ladder/structured.ts";
import type { Rung } from "../domain/merge/ladder/triple.ts";
import { unionRung } from "../domain/merge/ladder/union.ts";
import { randomIds } from "../host/ids.ts";
import { parseYaml } from "../host/syntax/yaml-tree.ts";
import type { MergeSettings } from "../ports/settings.ts";
import type { Store } from "../ports/store.ts";
import { mergeCodeAt } from "./merge-code.ts";

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
