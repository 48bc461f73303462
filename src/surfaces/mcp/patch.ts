/** The part of a patch that is about one file. */
export interface PatchedFile {
  readonly path: string;
  readonly text: string;
}

/** A patch as git prints it, file by file. */
export function filesOf(patch: string): readonly PatchedFile[] {
  const parts = patch.split(/^(?=diff --git )/m).filter((part) => part.startsWith("diff --git "));
  return parts.map((text) => ({ path: pathOf(text), text }));
}

export function countLines({ text }: PatchedFile): { readonly added: number; readonly removed: number } {
  const body = text.split("\n").slice(text.split("\n").findIndex((line) => line.startsWith("@@")));
  const starting = (sign: string): number => body.filter((line) => line.startsWith(sign)).length;
  return text.includes("\n@@") ? { added: starting("+"), removed: starting("-") } : { added: 0, removed: 0 };
}

/** Where it is afterwards; for a deleted file, where it was. */
function pathOf(text: string): string {
  const after = /^\+\+\+ (?:b\/)?(.+)$/m.exec(text)?.[1];
  if (after !== undefined && after !== "/dev/null") return after;
  const before = /^--- (?:a\/)?(.+)$/m.exec(text)?.[1];
  return before ?? /^diff --git a\/.* b\/(.+)$/m.exec(text)?.[1] ?? "";
}
