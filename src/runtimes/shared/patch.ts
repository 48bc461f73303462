/**
 * The files that a patch of the form `*** Begin Patch` adds, changes, deletes or moves. The programs that apply patches
 * read the headers leniently, each in its own way. So every line counts that any of them could take for a header. Agents
 * write patches: the time grows with the length of a patch, and with nothing else.
 */
export function patchedFiles(patch: string): readonly string[] {
  const found = new Set<string>();
  for (const ends of ["\n", /[\n\r\v\f\u0085\u2028\u2029]/]) {
    for (const line of patch.split(ends)) {
      const [head] = header.exec(line) ?? [];
      const path = head === undefined ? "" : line.slice(head.length).trim();
      if (path !== "") found.add(path);
    }
  }
  return [...found];
}

const header = /^[\s\u0085]*\*{3}\s*(?:(?:add|update|delete)\s*file|move\s*to)\s*:/i;

/** Does a text have such a patch in it? */
export const hasPatch = (text: string): boolean => /\*{3}\s*begin\s*patch/i.test(text);
