import { useState } from "react";
import { useWhyNot } from "../../api/actions.ts";
import { ApiError, change } from "../../api/client.ts";
import type { Conflicts } from "../../api/types.ts";
import { useDraft } from "../../state/drafts.ts";
import { toast } from "../../state/toasts.ts";
import { useGo } from "../../state/url.ts";
import { count } from "../../state/words.ts";
import { type ConflictFile, type Hunk, type Said, settledFile, type Take, taken } from "./settled-file.ts";

export interface Settlement {
  /** Places that nothing was said about. */
  readonly left: number;
  readonly whyNot: string | undefined;
  /** What was said about a hunk, or about a file that is settled as a whole. */
  said(file: ConflictFile, hunk?: Hunk): Said | undefined;
  take(file: ConflictFile, hunk: Hunk | undefined, take: Take): void;
  write(file: ConflictFile, hunk: Hunk, text: string): void;
  clear(file: ConflictFile, hunk?: Hunk): void;
  readonly accept: () => void;
}

/**
 * What a person makes of the conflicts of an entry. It is kept as a draft by the sides that were seen: when one of them
 * changes, only that place is open again.
 */
export function useSettlement(shown: Conflicts, open: readonly ConflictFile[]): Settlement {
  const { id, branch, status } = shown.entry;
  const draft = useDraft(`conflicts.${id}`);
  const offline = useWhyNot();
  const go = useGo();
  const [saves, setSaves] = useState(false);
  const all = readSaid(draft.text);
  const said = (file: ConflictFile, hunk?: Hunk): Said | undefined => all[placeOf(file, hunk)];
  const put = (place: string, next: Said | undefined): void => {
    const { [place]: _, ...others } = all;
    const kept = next === undefined ? others : { ...others, [place]: next };
    draft.setText(Object.keys(kept).length === 0 ? "" : JSON.stringify(kept));
  };
  const leftIn = (file: ConflictFile): number =>
    file.hunks.length === 0
      ? Number(said(file) === undefined)
      : file.hunks.filter((hunk) => said(file, hunk) === undefined).length;
  const left = open.reduce((sum, file) => sum + leftIn(file), 0);
  const onBranch = open.find(({ canTake }) => !canTake);
  const isBusy = status === "merging" || status === "gating";
  const whyNot =
    offline ??
    (isBusy ? "It is being merged at this moment" : undefined) ??
    (onBranch === undefined ? undefined : `${onBranch.path} can only be settled on the branch`) ??
    (left === 0 ? undefined : `${count(left, "place")} left`) ??
    (saves ? "It is being saved" : undefined);
  const save = async (): Promise<void> => {
    setSaves(true);
    try {
      const files = open.map((file) => settledFile(file, said));
      const { onto, head } = shown;
      const path = `/api/merge/${id}/settle`;
      const { entry } = await change<{ entry: { id: number } }>("POST", path, { onto, head, files });
      draft.setText("");
      toast(`Settled the conflicts of ${branch}; as merge ${entry.id} it goes to the gates.`);
      go(`/merge/${entry.id}`, { tab: "gates" });
    } catch (error) {
      const told = error instanceof ApiError ? error : undefined;
      const hint = told?.hint === undefined ? "" : ` ${told.hint}`;
      toast(`Could not settle merge ${id}: ${told?.message ?? String(error)}.${hint}`, { failed: true });
    } finally {
      setSaves(false);
    }
  };
  return {
    left,
    whyNot,
    said,
    take: (file, hunk, take) => {
      if (hunk === undefined && (take === "both" || !file.canTake)) return;
      put(placeOf(file, hunk), taken(hunk, take));
    },
    write: (file, hunk, text) => put(placeOf(file, hunk), { text, from: "you" }),
    clear: (file, hunk) => put(placeOf(file, hunk), undefined),
    accept: () => {
      if (whyNot === undefined) void save();
      else toast(`Nothing was accepted: ${whyNot}.`, { failed: true });
    },
  };
}

/** The same place with the same sides. */
function placeOf({ path, message }: ConflictFile, hunk: Hunk | undefined): string {
  const sides = hunk === undefined ? message : JSON.stringify([hunk.target, hunk.branch]);
  let hash = 5381;
  for (let at = 0; at < sides.length; at++) hash = (hash * 33 + sides.charCodeAt(at)) % 9007199254740;
  return `${path}:${hash}`;
}

function readSaid(text: string): Readonly<Record<string, Said>> {
  if (text === "") return {};
  try {
    return JSON.parse(text) as Readonly<Record<string, Said>>;
  } catch {
    // A draft of another version of the page is worth nothing.
    return {};
  }
}
