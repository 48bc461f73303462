import { mergeDocuments, type TreeFormat } from "./document.ts";
import { parseJson } from "./json-parse.ts";
import type { Path } from "./model.ts";
import type { MergeOutcome, Texts } from "./outcome.ts";

/** Merges JSON, with comments or without, key by key. */
export function mergeJson(texts: Texts, path: string): MergeOutcome {
  return mergeDocuments(texts, { ...format, ordered: isPackage(path) ? orderedInPackage : () => false });
}

const format: TreeFormat = {
  parse: parseJson,
  reindent: shifted,
  ties: [],
  ordered: () => false,
};

const isPackage = (path: string): boolean => /(^|\/)package\.json$/.test(path);

/** The first condition that fits is taken. */
const orderedInPackage = ([first]: Path): boolean => first === "exports" || first === "imports";

/** Strings of JSON have no line breaks, so every line may be moved; only block comments make it unclear. */
function shifted(text: string, from: string, to: string): string | undefined {
  if (text.includes("/*")) return undefined;
  const [first = "", ...rest] = text.split("\n");
  const lines: string[] = [first];
  for (const line of rest) {
    if (line.trim() === "") lines.push(line);
    else if (line.startsWith(from)) lines.push(`${to}${line.slice(from.length)}`);
    else return undefined;
  }
  return lines.join("\n");
}
