import { parseJson } from "../data/json-parse.ts";
import { Unsure } from "../data/outcome.ts";
import type { ParseYaml } from "../data/yaml.ts";
import { formatOf } from "./format.ts";

/** Whether a text can be read in the data format its path asks for; true for formats that are not data. */
export function readsAsData(path: string, content: string, parseYaml: ParseYaml): boolean {
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
