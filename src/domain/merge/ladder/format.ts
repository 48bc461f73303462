import { regenerationFor } from "./regeneration.ts";

export const formats = [
  "generated",
  "jsonl",
  "line-set",
  "ignore-list",
  "changelog",
  "json",
  "yaml",
  "markdown",
  "other",
] as const;
export type Format = (typeof formats)[number];

/** How a file is written, told from its name. `other`: code, or text nobody knows more about. */
export function formatOf(path: string): Format {
  const name = (path.split("/").at(-1) ?? path).toLowerCase();
  if (name === "go.sum") return "line-set";
  if (regenerationFor(path) !== undefined) return "generated";
  if (/\.(jsonl|ndjson)$/.test(name)) return "jsonl";
  if (/^\.(git|docker|npm|prettier|eslint|stylelint)ignore$/.test(name)) return "ignore-list";
  if (/^(changelog|changes|history|release[-_]?notes)([-_.].*)?\.(md|markdown)$/.test(name)) return "changelog";
  if (/\.(json|jsonc|code-workspace|webmanifest|geojson|ipynb)$/.test(name)) return "json";
  if (/^\.(babelrc|eslintrc|swcrc|jshintrc)$/.test(name)) return "json";
  if (/\.(yaml|yml)$/.test(name)) return "yaml";
  if (/\.(md|markdown)$/.test(name)) return "markdown";
  return "other";
}
