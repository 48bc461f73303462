import type { MergeCode } from "../domain/merge/ladder/structured.ts";
import { languageOf } from "../domain/merge/structured/syntax.ts";
import { parseSyntax } from "../host/syntax/parse.ts";

/** Merging of source code by its structure. Grammars are loaded only when there is code to read. */
export const mergeCodeAt: MergeCode = async (path, texts) => {
  const language = languageOf(path);
  if (language === undefined) return undefined;
  const { mergeCode } = await import("../domain/merge/structured/merge-code.ts");
  return mergeCode(parseSyntax, { language, ...texts });
};
