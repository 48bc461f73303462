import { meaning } from "../data/document-tree.ts";
import { parseJson } from "../data/json-text.ts";
import { mergeJson, mergeYaml } from "../data/json-yaml.ts";
import { mergeMarkdown } from "../data/markdown.ts";
import { canon } from "../data/value.ts";
import { formatOf, languageOf } from "../file-format.ts";
import { type MergeOutcome, type Texts, Unsure } from "../outcome.ts";
import { parseYaml } from "../parsers/yaml-tree.ts";
import { type Answer, escalate, isEmptied, plainOf, resolved, skip, type Versions } from "../versions.ts";

/** Merges by what a file says rather than by its lines, with the merger its name asks for. */
export async function mergeByStructure(versions: Versions): Promise<Answer> {
  const plain = plainOf(versions);
  if (plain === undefined) return escalate("the line ends of the file are mixed");
  if (isEmptied(versions)) return escalate("one side emptied the file, the other changed it");
  if (versions.base === null) {
    return knownData(versions.path) ? escalate("both sides added the file with different contents") : skip;
  }
  if ([plain.base, plain.ours, plain.theirs].some(isTooLong)) {
    return escalate(`the file has more than ${mostLines} lines or ${mostCharacters} characters`);
  }
  const outcome = await merge(versions.path, plain);
  if (outcome === undefined) return skip;
  if (outcome.kind === "refused") return escalate(outcome.reason);
  const content = plain.restore(outcome.content);
  if (formatOf(versions.path) === "yaml" && changesWithItsEnd(outcome.content, content)) {
    return escalate("the end of the file is part of a text in it");
  }
  return resolved("structured", content);
}

/**
 * The engine waits while a file is merged, and with it every run. Comparing the parts of a file takes longer than its
 * length grows, so very long files are left to their authors.
 */
const mostLines = 3_000;
const mostCharacters = 300_000;

const isTooLong = (text: string): boolean =>
  text.length > mostCharacters || (text.length > mostLines && text.split("\n").length > mostLines);

async function merge(path: string, texts: Texts): Promise<MergeOutcome | undefined> {
  switch (formatOf(path)) {
    case "json":
      return mergeJson(texts, path);
    case "yaml":
      return mergeYaml(texts);
    case "markdown":
      return mergeMarkdown(texts, { changelog: false });
    case "other":
      return mergeSource(path, texts);
    case "generated":
    case "jsonl":
    case "line-set":
    case "ignore-list":
    case "changelog":
      return undefined;
  }
}

/** Merges source code. The grammars are large: they are loaded only when there is code to read. */
async function mergeSource(path: string, texts: Texts): Promise<MergeOutcome | undefined> {
  const language = languageOf(path);
  if (language === undefined) return undefined;
  const { mergeCode } = await import("../code/merge-code.ts");
  return mergeCode({ language, ...texts });
}

const knownData = (path: string): boolean => ["json", "yaml", "markdown"].includes(formatOf(path));

/** A block scalar at the very end has a line break exactly when the file has. */
function changesWithItsEnd(merged: string, written: string): boolean {
  if (written.endsWith("\n")) return false;
  const [whole, cut] = [merged, merged.replace(/\n$/, "")].map((text) => canon(meaning(parseYaml(text).root)));
  return whole !== cut;
}

/** Whether a text can be read in the data format its path asks for; true for formats that are not data. */
export function readsAsData(path: string, content: string): boolean {
  const format = formatOf(path);
  try {
    if (format === "json") parseJson(content);
    if (format === "yaml") parseYaml(content);
    if (format === "jsonl") for (const line of content.split("\n")) if (line.trim() !== "") parseJson(line);
    return true;
  } catch (thrown) {
    if (thrown instanceof Unsure) return false;
    throw thrown;
  }
}
