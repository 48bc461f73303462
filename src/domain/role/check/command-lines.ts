/**
 * Every `ov ...` that a text tells its reader to type, as words: in a code span, or as a line of a code block. What
 * others wrote stands indented in our texts and is not looked at.
 */
export function commandLines(text: string): readonly (readonly string[])[] {
  const found: string[] = [];
  let inBlock = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) inBlock = !inBlock;
    else if (inBlock) found.push(...(line.startsWith("ov ") ? [line.replace(/\s+#.*$/, "")] : []));
    else if (!line.startsWith("    ")) found.push(...[...line.matchAll(/`(ov [^`]+)`/g)].map(([, span = ""]) => span));
  }
  return found.map((line) => wordsOf(line).slice(1));
}

/** The words of a line as a shell would read them, placeholders such as `<task-id>` included. */
function wordsOf(line: string): readonly string[] {
  return [...line.trim().matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}
