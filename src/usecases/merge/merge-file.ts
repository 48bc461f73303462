import { climb, type Rung, regenerateRung, type Triple } from "../../domain/merge/ladder.ts";
import { ok } from "../../domain/result.ts";
import { fields, flag, orNull, text } from "../../domain/schema/schema.ts";
import {
  identicalRule,
  languageOf,
  linesRule,
  structureRule,
  trivialRule,
  unionRule,
} from "../../structured-merge/index.ts";
import type { Effect } from "../operation.ts";

/** What became of three versions of a file. */
export type FileMerge =
  | { readonly kind: "merged"; readonly content: string; readonly strategy: string }
  | { readonly kind: "refused"; readonly reason: string };

/** Merges one file, without a project or a repository around it, by every rule that needs nothing but the three texts. */
export const mergeFile: Effect<Omit<Triple, "kind">, FileMerge> = {
  kind: "effect",
  request: fields({ path: text, base: orNull(text), ours: text, theirs: text }, { union: flag }),
  place: "engine",
  run: async (world, triple) => {
    /** Reading code takes long enough for compiling the merger to pay. */
    const structureRung: Rung = {
      name: structureRule.name,
      attempt: (versions) => {
        if (languageOf(versions.path) !== undefined) world.expectLongWork();
        return structureRule.attempt(versions);
      },
    };
    const rungs = [trivialRule, identicalRule, unionRule, regenerateRung(), structureRung, linesRule];
    const climbed = await climb(rungs, { ...triple, kind: "content" });
    if (climbed.kind === "escalate") return ok({ kind: "refused", reason: climbed.reason });
    return ok({ kind: "merged", content: climbed.content, strategy: climbed.strategy });
  },
};
