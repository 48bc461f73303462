import type { FileChange } from "../../../domain/diff/shown-files.ts";
import type { PatchForm } from "../../../ports/merge-git.ts";
import { expectGit } from "../git.ts";
import type { MergeRepository } from "./merge-repository.ts";

/** See `LookingGit.fileChanges`. One process tells the ids of contents (`--raw`) and the lines (`--numstat`). */
export async function fileChanges(
  mergeRepo: MergeRepository,
  from: string,
  to: string,
  { ignoreSpace = false }: Pick<PatchForm, "ignoreSpace"> = {},
): Promise<readonly FileChange[]> {
  const form = ["--no-ext-diff", "--no-textconv", "--find-renames", ...(ignoreSpace ? ["--ignore-all-space"] : [])];
  const args = ["diff", "--raw", "--numstat", "-z", "--no-abbrev", ...form, from, to, "--"];
  const { out } = expectGit(await mergeRepo.through((own) => own.git(args)), "listing changes");
  return changesIn(out.split("\0"), ignoreSpace);
}

/** Fields of a renamed file are followed by both of its names; those of any other file by, or with, its one name. */
function changesIn(parts: readonly string[], ignoreSpace: boolean): readonly FileChange[] {
  const files = new Map<string, FileChange>();
  const counted = new Set<string>();
  for (let at = 0; at < parts.length; ) {
    const part = parts[at++] ?? "";
    if (part.startsWith(":")) {
      const [, , oldBlob = "", newBlob = "", letter = ""] = part.slice(1).split(" ");
      const isRename = /^[RC]/.test(letter);
      const first = parts[at++] ?? "";
      const path = isRename ? (parts[at++] ?? "") : first;
      files.set(path, {
        path,
        oldPath: isRename ? first : null,
        status: statuses[letter.slice(0, 1)] ?? "modified",
        added: 0,
        removed: 0,
        oldBlob: blobOf(oldBlob),
        newBlob: blobOf(newBlob),
      });
      continue;
    }
    const [added = "", removed = "", name = ""] = part.split("\t");
    if (part === "") continue;
    const path = name === "" ? (parts[at + 1] ?? "") : part.slice(added.length + removed.length + 2);
    if (name === "") at += 2;
    const file = files.get(path);
    if (file === undefined) continue;
    counted.add(path);
    files.set(path, { ...file, added: countOf(added), removed: countOf(removed) });
  }
  // A file in which only blanks differ is listed without its lines.
  return [...files.values()].filter(({ path, status }) => !ignoreSpace || counted.has(path) || status !== "modified");
}

const statuses: Readonly<Record<string, FileChange["status"]>> = {
  A: "added",
  C: "added",
  D: "deleted",
  M: "modified",
  R: "renamed",
  T: "type changed",
};

const blobOf = (id: string): string | null => (/^0*$/.test(id) ? null : id);
const countOf = (text: string): number | null => (text === "-" ? null : Number(text));
