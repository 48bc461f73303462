import { rememberedRung } from "../domain/merge/ladder/remembered.ts";
import type { Rung } from "../domain/merge/ladder/triple.ts";
import { randomIds } from "../host/ids.ts";
import type { MergeSettings } from "../ports/settings.ts";
import type { Store } from "../ports/store.ts";
import { identicalRule, readsAsData, structureRule, unionRule } from "../structured-merge/index.ts";

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
    identicalRule,
    unionRule,
    rememberedRung({
      digest: randomIds.digest,
      recall,
      reads: readsAsData,
    }),
    ...(config.merge.structured.enabled ? [structureRule] : []),
  ];
}
