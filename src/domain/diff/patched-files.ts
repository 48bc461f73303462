/** One file of a patch: where it is afterwards (for a deleted one, where it was), and how many lines came and went. */
export interface PatchedFile {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  /** The part of the patch that is about it. */
  readonly text: string;
}

/** A patch as git prints it, file by file, in its order. */
export function patchedFiles(patch: string): readonly PatchedFile[] {
  const parts = patch.split(/^(?=diff --git )/m).filter((part) => part.startsWith(header));
  return parts.map(fileIn);
}

const header = "diff --git ";

function fileIn(text: string): PatchedFile {
  const file = { path: "", added: 0, removed: 0, text };
  let inHunk = false;
  for (const line of text.split("\n")) {
    // In a hunk the first character alone tells: a line of dashes is no header there.
    if (line.startsWith("@@")) inHunk = true;
    else if (inHunk && line.startsWith("+")) file.added++;
    else if (inHunk && line.startsWith("-")) file.removed++;
    else if (!inHunk) file.path = pathIn(line) ?? file.path;
  }
  return file;
}

function pathIn(line: string): string | undefined {
  if (line.startsWith(header)) return pathInHeader(line);
  if (line.startsWith("+++ ") && line !== "+++ /dev/null") return unquoted(line.slice(4), "b/");
  return line.startsWith("rename to ") ? unquoted(line.slice(10), "") : undefined;
}

/** Both names are the same unless it was renamed, which a later line tells. */
function pathInHeader(line: string): string {
  const names = line.slice(header.length);
  return unquoted(names.slice((names.length + 1) / 2), "b/");
}

/** Git puts names with unusual bytes in quotes, with these bytes as escapes, and a tab behind names with blanks. */
function unquoted(name: string, prefix: string): string {
  const typed = name.replace(/\t$/, "");
  const bare = typed.length > 1 && typed.startsWith('"') && typed.endsWith('"') ? unescaped(typed.slice(1, -1)) : typed;
  return bare.startsWith(prefix) ? bare.slice(prefix.length) : bare;
}

/** The escapes stand for bytes; several of them are one letter in UTF-8. */
function unescaped(text: string): string {
  const bytes: Buffer[] = [];
  for (const [part] of text.matchAll(/\\[0-7]{3}|\\.|[^\\]+/gs)) {
    if (!part.startsWith("\\")) bytes.push(Buffer.from(part));
    else if (part.length === 4) bytes.push(Buffer.from([Number.parseInt(part.slice(1), 8)]));
    else bytes.push(Buffer.from(escapes[part.slice(1)] ?? part.slice(1)));
  }
  return Buffer.concat(bytes).toString();
}

const escapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
};
