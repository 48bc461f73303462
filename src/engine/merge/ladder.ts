import { type Rung, rememberedRung } from "../../domain/merge/ladder.ts";
import type { Ids } from "../../ports/ids.ts";
import type { MergeSettings } from "../../ports/settings.ts";
import type { Store } from "../../ports/store.ts";
import { identicalRule, readsAsData, structureRule, unionRule } from "../../structured-merge/index.ts";

/** The rules for conflicts that git could not settle, surest first. Tiers with a model join at its end. */
export function ladder(
  { structured }: Pick<MergeSettings, "structured">,
  { store, ids }: { readonly store: Pick<Store, "read">; readonly ids: Ids },
): readonly Rung[] {
  const recall = async (fingerprint: string): Promise<readonly string[] | undefined> => {
    const known = await store.read((tx) => tx.resolutions.get(fingerprint));
    return known === undefined || known.bad > 0 ? undefined : (JSON.parse(known.content) as readonly string[]);
  };
  return [
    identicalRule,
    unionRule,
    rememberedRung({
      digest: ids.digest,
      recall,
      reads: readsAsData,
    }),
    ...(structured.enabled ? [structureRule] : []),
  ];
}
