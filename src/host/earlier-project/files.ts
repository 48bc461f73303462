import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { EarlierPart, EarlierRow, EarlierValues } from "../../domain/earlier/earlier-project.ts";
import { statIfThere } from "../file-access.ts";
import { sharedDir } from "../project-place.ts";

/** The rows of the parts that are files, not databases. Missing parts are left out. */
export function fileRows(root: string): ReadonlyMap<EarlierPart, readonly EarlierRow[]> {
  const dir = sharedDir(root);
  const found: readonly (readonly [EarlierPart, readonly EarlierRow[]])[] = [
    ["identities", ofAgents(dir, "identity.yaml", (text) => parse(text))],
    ["checkpoints", ofAgents(dir, "checkpoint.json", (text) => JSON.parse(text))],
    ["seeds", linesOf(root, [".seeds/issues.jsonl"])],
    ["beads", linesOf(root, jsonLinesIn(root, ".beads"))],
    ["groups", itemsOf(dir, "groups.json")],
  ];
  return new Map(found.filter(([, rows]) => rows.length > 0));
}

function ofAgents(dir: string, file: string, read: (text: string) => unknown): readonly EarlierRow[] {
  const names = entries(join(dir, "agents"));
  const paths = names.map((name) => `agents/${name}/${file}`).filter((path) => isFile(join(dir, path)));
  return paths.map((where, at) => ({
    row: at + 1,
    where,
    ...valuesOf(() => read(readFileSync(join(dir, where), "utf8"))),
  }));
}

function itemsOf(dir: string, file: string): readonly EarlierRow[] {
  const path = join(dir, file);
  if (!isFile(path)) return [];
  const text = readFileSync(path, "utf8");
  try {
    const items: unknown = JSON.parse(text);
    if (!Array.isArray(items)) return [{ row: 1, where: file, problem: "is no list" }];
    return items.map((item, at) => ({ row: at + 1, where: `${file} item ${at + 1}`, ...valuesOf(() => item) }));
  } catch {
    return [{ row: 1, where: file, problem: "is not valid JSON" }];
  }
}

/** The text of a line goes along: formats of one record for each line have a reader of their own. */
function linesOf(root: string, files: readonly string[]): readonly EarlierRow[] {
  const lines = files
    .filter((file) => isFile(join(root, file)))
    .flatMap((file) =>
      readFileSync(join(root, file), "utf8")
        .split("\n")
        .map((line, at) => ({ line, where: `${file} line ${at + 1}` })),
    );
  return lines
    .filter(({ line }) => line.trim() !== "")
    .map(({ line, where }, at) => ({
      row: at + 1,
      where,
      ...withLine(
        line,
        valuesOf(() => JSON.parse(line)),
      ),
    }));
}

const withLine = (line: string, read: ReturnType<typeof valuesOf>): ReturnType<typeof valuesOf> =>
  read.values === undefined ? read : { values: { ...read.values, "!line": line } };

const jsonLinesIn = (root: string, dir: string): readonly string[] =>
  entries(join(root, dir))
    .filter((name) => name.endsWith(".jsonl") && !/^(interactions|deletions|molecules)\.jsonl$/.test(name))
    .map((name) => `${dir}/${name}`);

function valuesOf(read: () => unknown): { readonly values?: EarlierValues; readonly problem?: string } {
  try {
    const values = read();
    const isObject = typeof values === "object" && values !== null && !Array.isArray(values);
    return isObject ? { values: { ...values } } : { problem: "is no object" };
  } catch {
    return { problem: "cannot be parsed" };
  }
}

const isFile = (path: string): boolean => statIfThere(path)?.isFile() === true;

const entries = (dir: string): readonly string[] =>
  statIfThere(dir)?.isDirectory() === true ? readdirSync(dir).toSorted() : [];
