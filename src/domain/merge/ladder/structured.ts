import { mergeJson } from "../data/json.ts";
import { mergeMarkdown } from "../data/markdown.ts";
import type { MergeOutcome, Texts } from "../data/outcome.ts";
import { meaning } from "../data/tree.ts";
import { canon } from "../data/value.ts";
import { mergeYaml, type ParseYaml } from "../data/yaml.ts";
import { plainOf } from "./form.ts";
import { formatOf } from "./format.ts";
import { isEmptied } from "./guard.ts";
import { type Answer, escalate, type Rung, resolved, skip, type Triple } from "./triple.ts";

/** Merges source code, for the languages it knows; undefined for all other files. */
export type MergeCode = (path: string, texts: Texts) => Promise<MergeOutcome | undefined>;

export interface StructuredPorts {
  readonly parseYaml: ParseYaml;
  readonly mergeCode: MergeCode;
}

/** Merges by what a file says rather than by its lines, with the merger its name asks for. */
export function structuredRung(ports: StructuredPorts): Rung {
  return { name: "structured", attempt: (triple) => structured(triple, ports) };
}

async function structured(triple: Triple, ports: StructuredPorts): Promise<Answer> {
  const plain = plainOf(triple);
  if (plain === undefined) return escalate("the line ends of the file are mixed");
  if (isEmptied(triple)) return escalate("one side emptied the file, the other changed it");
  if (triple.base === null) {
    return knownData(triple.path) ? escalate("both sides added the file with different contents") : skip;
  }
  const outcome = await merge(triple.path, plain, ports);
  if (outcome === undefined) return skip;
  if (outcome.kind === "refused") return escalate(outcome.reason);
  const content = plain.restore(outcome.content);
  if (formatOf(triple.path) === "yaml" && changesWithItsEnd(outcome.content, content, ports)) {
    return escalate("the end of the file is part of a text in it");
  }
  return resolved("structured", content);
}

async function merge(path: string, texts: Texts, ports: StructuredPorts): Promise<MergeOutcome | undefined> {
  switch (formatOf(path)) {
    case "json":
      return mergeJson(texts, path);
    case "yaml":
      return mergeYaml(texts, ports.parseYaml);
    case "markdown":
      return mergeMarkdown(texts, { parseYaml: ports.parseYaml, changelog: false });
    case "other":
      return ports.mergeCode(path, texts);
    case "generated":
    case "jsonl":
    case "line-set":
    case "ignore-list":
    case "changelog":
      return undefined;
  }
}

const knownData = (path: string): boolean => ["json", "yaml", "markdown"].includes(formatOf(path));

/** A block scalar at the very end has a line break exactly when the file has. */
function changesWithItsEnd(merged: string, written: string, { parseYaml }: StructuredPorts): boolean {
  if (written.endsWith("\n")) return false;
  const [whole, cut] = [merged, merged.replace(/\n$/, "")].map((text) => canon(meaning(parseYaml(text).root)));
  return whole !== cut;
}
