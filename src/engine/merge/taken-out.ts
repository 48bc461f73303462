import { type TakenOut, takenOut } from "../../domain/merge/taken-out.ts";
import {
  baseOfTakenOut as baseIn,
  hasCommit,
  type TakenOutBase,
  wordsAbout,
} from "../../usecases/merge/landing/taken-out.ts";
import type { MergePorts } from "./ports.ts";

/** Work of this branch that was taken out in the history of `into`, the last removal first. */
export async function takenOutOf(
  { store, merging }: Pick<MergePorts, "store"> & { readonly merging: Parameters<typeof hasCommit>[0] },
  branch: string,
  into: string,
): Promise<readonly TakenOut[]> {
  const words = await store.read((tx) => wordsAbout(tx, branch));
  return takenOut(words, hasCommit(merging, into));
}

/** Undefined when nothing of the branch was taken out of `into`, or it is back. */
export async function baseOfTakenOut(
  { store, merging }: Pick<MergePorts, "store"> & { readonly merging: Parameters<typeof baseIn>[0] },
  { branch, headCommit }: { readonly branch: string; readonly headCommit?: string },
  into: string,
): Promise<TakenOutBase | undefined> {
  const words = await store.read((tx) => wordsAbout(tx, branch));
  return baseIn(merging, { branch, head: headCommit, into, words });
}
