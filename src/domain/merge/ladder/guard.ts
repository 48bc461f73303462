import { hasConflictMarkers } from "../data/conserve.ts";
import type { Triple } from "./triple.ts";

/** Larger files are not text that people merge. */
const mostCharacters = 5 * 1024 * 1024;

/** Why nothing may be decided by rule here, whatever the contents are; undefined when the ladder may be climbed. */
export function forbidden({ kind, base, ours, theirs }: Triple): string | undefined {
  if (kind !== "content" && kind !== "add-add") return `a conflict of the kind ${kind} is never settled by rule`;
  const texts = [base ?? "", ours, theirs];
  if (texts.some((text) => text.length > mostCharacters)) return "the file is larger than 5 MB";
  // The replacement character is what bytes that are no UTF-8 were read as.
  if (texts.some((text) => text.includes("\0") || text.includes("\uFFFD"))) return "the file is not text";
  if (texts.some(hasConflictMarkers)) return "a version of the file has conflict markers in it";
  return undefined;
}

/** One side took everything out of the file and the other went on with it: that is a deletion beside a change. */
export const isEmptied = ({ base, ours, theirs }: Pick<Triple, "base" | "ours" | "theirs">): boolean =>
  base !== null && base.trim() !== "" && (ours.trim() === "" || theirs.trim() === "");
