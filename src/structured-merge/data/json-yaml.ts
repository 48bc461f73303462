import { attempt, type MergeOutcome, type Texts, unsure } from "../outcome.ts";
import { parseYaml } from "../parsers/yaml-tree.ts";
import { meaning } from "./document-tree.ts";
import { parseJson } from "./json-parse.ts";
import { mergeDocuments, type TreeFormat } from "./merge-document.ts";
import type { Path } from "./merge-values.ts";

/** Merges JSON, with comments or without, key by key. */
export function mergeJson(texts: Texts, path: string): MergeOutcome {
  const ordered = (inside: Path): boolean => isMatched(inside) || (isPackage(path) && isConditional(inside));
  const outcome = mergeDocuments(texts, { ...format, ordered });
  if (outcome.kind === "refused" || !isPackage(path)) return outcome;
  return attempt(() => {
    checkHomes(texts, outcome.content);
    return outcome;
  });
}

const format: TreeFormat = {
  parse: parseJson,
  reindent: shifted,
  ties: [],
  ordered: () => false,
};

const isPackage = (path: string): boolean => /(^|\/)package\.json$/.test(path);

/** The first condition that fits is taken. */
const isConditional = ([first]: Path): boolean => first === "exports" || first === "imports";

/** Maps of patterns, of which the first that matches counts. */
const isMatched = (inside: Path): boolean => inside.at(-1) === "moduleNameMapper" || inside.at(-1) === "transform";

/** Strings of JSON have no line breaks, so every line may be moved; only block comments make it unclear. */
function shifted(text: string, from: string, to: string): string | undefined {
  if (text.includes("/*")) return undefined;
  const [first = "", ...rest] = text.split("\n");
  if (rest.some((line) => line.trim() !== "" && !line.startsWith(from))) return undefined;
  const extra = (line: string): string => /^[ \t]*/.exec(line.slice(from.length))?.[0] ?? "";
  const step = Math.min(...rest.map((line) => extra(line).length).filter((length) => length > 0));
  const unit = unitFor({ step, from, to });
  const moved = (line: string): string => {
    const levels = extra(line).length / step;
    const inner = unit === undefined || !Number.isInteger(levels) ? extra(line) : unit.repeat(levels);
    return `${to}${extra(line) === "" ? "" : inner}${line.trimStart()}`;
  };
  return [first, ...rest.map((line) => (line.trim() === "" ? line : moved(line)))].join("\n");
}

/** One level of indentation as ours writes it; undefined when that cannot be told, and theirs is kept. */
function unitFor({ step, from, to }: { step: number; from: string; to: string }): string | undefined {
  if (to.startsWith("\t")) return "\t";
  const width = (step * to.length) / from.length;
  return Number.isInteger(width) ? " ".repeat(width) : undefined;
}

/** Gives up when a package would be needed in two ways that no version alone has, as for running and for developing. */
function checkHomes({ base, ours, theirs }: Texts, content: string): void {
  const known = [base, ours, theirs].map(homesOf);
  for (const [name, homes] of homesOf(content)) {
    if (homes.includes(" ") && !known.some((version) => version.get(name) === homes)) {
      unsure(`${name} would be needed in more than one way: ${homes}`);
    }
  }
}

/** The maps of a manifest each package stands in. */
function homesOf(text: string): ReadonlyMap<string, string> {
  const root = meaning(parseJson(text).root);
  const found = new Map<string, string>();
  for (const home of ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"]) {
    const map = root.kind === "map" ? root.entries.get(home) : undefined;
    const names = map?.kind === "map" ? map.entries.keys() : [];
    for (const name of names) found.set(name, found.has(name) ? `${found.get(name)} ${home}` : home);
  }
  return found;
}

/** Merges YAML key by key. Indentation carries meaning there, so text is never moved to another depth. */
export function mergeYaml(texts: Texts): MergeOutcome {
  const format = { parse: parseYaml, reindent: () => undefined, ordered: () => false };
  return mergeDocuments(texts, { ...format, ties: ["anchor", "alias"] });
}
