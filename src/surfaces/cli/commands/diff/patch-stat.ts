export interface FileStat {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
}

/** Lines that came and went, by file, in the order of the patch. */
export function patchStat(patch: string): readonly FileStat[] {
  const files: { path: string; added: number; removed: number }[] = [];
  let inHunk = false;
  for (const line of patch.split("\n")) {
    const file = files.at(-1);
    if (line.startsWith("diff --git ")) {
      files.push({ path: pathIn(line), added: 0, removed: 0 });
      inHunk = false;
    } else if (file === undefined) continue;
    else if (line.startsWith("@@")) inHunk = true;
    else if (inHunk && line.startsWith("+")) file.added++;
    else if (inHunk && line.startsWith("-")) file.removed++;
    else if (!inHunk && line.startsWith("+++ ") && line !== "+++ /dev/null") file.path = unquoted(line.slice(4), "b/");
    else if (!inHunk && line.startsWith("rename to ")) file.path = unquoted(line.slice(10), "");
  }
  return files;
}

/** Both names of the header are the same unless it was renamed, which a later line tells. */
function pathIn(header: string): string {
  const names = header.slice("diff --git ".length);
  const half = names.slice((names.length + 1) / 2);
  return unquoted(half, "b/");
}

/** Git puts names with unusual bytes in quotes, and a tab behind names with blanks. */
function unquoted(name: string, prefix: string): string {
  const bare = name.replace(/\t$/, "").replace(/^"(.*)"$/, "$1");
  return bare.startsWith(prefix) ? bare.slice(prefix.length) : bare;
}
