import { bringsTarget, type MergeEntry } from "../../../domain/merge/entry.ts";
import type { Doubt } from "../../../usecases/merge/queue/approval.ts";
import { doubtOf } from "../claims.ts";
import type { MergePorts } from "../ports.ts";
import { type Concern, takenOutBy, touchedByMerge, withOwners } from "../steering.ts";
import type { MergeAnswer } from "./steps.ts";

export interface FirstLook {
  /** The tip of the target on which the entries were looked at. Undefined when there was none. */
  readonly lookedOn: string | undefined;
  /** The concerns of that look, by number of the entry. */
  readonly concerns: ReadonlyMap<number, Concern>;
}

interface MergedOnto {
  readonly onto: string;
  readonly entry: MergeEntry;
  readonly answer: Extract<MergeAnswer, { kind: "merged" }>;
}

/**
 * Looks at an entry again when it is merged onto another commit than the one on which it was looked at: entries may land
 * before it, and the target may move. The answer is a new doubt, or undefined.
 */
export function laterLook(
  ports: MergePorts,
  { lookedOn, concerns, entries }: FirstLook & { readonly entries: readonly MergeEntry[] },
): (merged: MergedOnto) => Promise<Doubt | undefined> {
  const { merging } = ports;
  /** Commits with the same rules and names as the tip on which the entries were looked at. */
  const alike = new Set([lookedOn]);
  /** One git process for all entries. A branch without a merge, as most are, cannot remove work that landed since. */
  let merges: Promise<boolean> | undefined;
  const anyMerges = (from: string): Promise<boolean> => {
    merges ??= merging.hasMerges(
      from,
      entries.map(({ headCommit }) => headCommit),
    );
    return merges;
  };
  return async ({ onto, entry, answer }) => {
    const known = concerns.get(entry.id);
    const isAlike = alike.has(onto);
    if (isAlike && !bringsTarget(entry) && (known?.touched ?? []).length === 0) alike.add(answer.commit);
    if (onto === lookedOn || bringsTarget(entry) || answer.commit === onto) return undefined;
    const touched = isAlike ? [] : await touchedByMerge(ports, { onto, merged: answer.commit });
    const takesOut = (await anyMerges(lookedOn ?? onto))
      ? (await takenOutBy(ports, onto, await withOwners(ports, [entry]))).get(entry.id)
      : undefined;
    const knownPaths = new Set([
      ...(known?.touched ?? []).map(({ path }) => path),
      ...(known?.putBack ?? []),
      ...(known?.dropped ?? []).flatMap(({ files, tooLarge }) => [...files, ...tooLarge]),
    ]);
    const isNew = (path: string): boolean => !knownPaths.has(path);
    const found = {
      touched: touched.filter(({ path }) => isNew(path)),
      outside: [],
      putBack: (takesOut?.putBack ?? []).filter(isNew),
      // How often it takes something in does not depend on where it lands.
      uncompared: 0,
      dropped: (takesOut?.dropped ?? []).filter(({ files, tooLarge }) => [...files, ...tooLarge].some(isNew)),
    };
    const paths = [
      ...found.touched.map(({ path }) => path),
      ...found.putBack,
      ...found.dropped.flatMap(({ files }) => files),
    ];
    if (paths.length + found.dropped.length === 0) return undefined;
    const difference = paths.length === 0 ? "" : await merging.patch(onto, answer.commit, [...new Set(paths)]);
    return doubtOf(ports, { ...found, difference });
  };
}
