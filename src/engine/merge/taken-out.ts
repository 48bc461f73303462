import { type TakenOut, takenOut } from "../../domain/merge/taken-out.ts";
import { hasCommit, wordsAbout } from "../../usecases/merge/taken-out.ts";
import type { MergePorts } from "./ports.ts";

/** What was taken out of this branch again in the history of `into`, the last taken out first. */
export async function takenOutOf(
  { store, merging }: Pick<MergePorts, "store"> & { readonly merging: Parameters<typeof hasCommit>[0] },
  branch: string,
  into: string,
): Promise<readonly TakenOut[]> {
  const words = await store.read((tx) => wordsAbout(tx, branch));
  return takenOut(words, hasCommit(merging, into));
}

/** Where the work on a branch begins of which something was taken out again. */
export interface TakenOutBase {
  /** The landing branch as it was before the first of the landings that were taken out. */
  readonly before: string;
  /** The commit that the branch and it have in common: everything since counts as the agent's work again. */
  readonly base: string;
}

/** Undefined when nothing of the branch was taken out of `into`, or it is back. */
export async function baseOfTakenOut(
  ports: Pick<MergePorts, "store"> & { readonly merging: Pick<MergePorts["merging"], BaseNeeds> },
  branch: string,
  into: string,
): Promise<TakenOutBase | undefined> {
  const { merging } = ports;
  const head = await merging.commitOf(`refs/heads/${branch}`);
  const onto = await merging.commitOf(into);
  if (head === undefined || onto === undefined) return undefined;
  const first = (await takenOutOf(ports, branch, onto)).at(-1);
  const before = first?.landedBy == null ? undefined : await merging.commitOf(`${first.landedBy}^1`);
  const base = before === undefined ? undefined : await merging.baseOf(before, head);
  return before === undefined || base === undefined ? undefined : { before, base };
}

type BaseNeeds = "commitOf" | "contains" | "baseOf";
