import type { Parse } from "../../domain/merge/structured/syntax.ts";

/** Trees for the merge by structure. Nothing of the parser is loaded before the first text is parsed. */
export const parseSyntax: Parse = async (language, text) => {
  const { parseText } = await import("./grammars.ts");
  return parseText(language, text);
};
