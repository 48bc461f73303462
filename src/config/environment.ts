import { nearest } from "../domain/name/nearest.ts";
import { read, type Setting } from "./collect.ts";
import { isPlainName, knownKeys } from "./keys.ts";
import type { Findings } from "./problem.ts";
import { jsonProblemOf, treeOfText } from "./read.ts";
import { type Environment, environmentInUse, environmentPrefix } from "./sources.ts";
import { unusedKeys, whyIgnored } from "./unused-keys.ts";

/** The variable that overrides a key: `agents.maxConcurrent` is `OVERSTORY__AGENTS__MAX_CONCURRENT`. */
export function variableFor(path: readonly string[]): string {
  const part = (name: string) =>
    name
      .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
      .replaceAll(/[^A-Za-z0-9*]/g, "_")
      .toUpperCase();
  return environmentPrefix + path.map(part).join("__");
}

/** Settings made by variables. Capitals and single underscores do not matter: the table knows how a key is written. */
export function collectEnvironment(env: Environment, findings: Findings): Setting[] {
  const settings: Setting[] = [];
  for (const [variable, typed] of environmentInUse(env)) {
    const source = { layer: "environment", file: variable } as const;
    const match = findVariable(variable);
    if (match === undefined) {
      const unused = unusedVariable(variable);
      if (unused !== undefined) {
        findings.warnings.push({ file: variable, line: 0, column: 0, key: "", message: unused });
        continue;
      }
      const known = knownKeys.map((key) => variableFor(key.parts)).filter((name) => !name.includes("*"));
      const close = nearest(variable.toUpperCase(), known);
      const at = { file: variable, line: 0, column: 0, key: "", message: "matches no known key and is ignored" };
      findings.warnings.push(close === undefined ? at : { ...at, nearest: close });
      continue;
    }
    const broken = jsonProblemOf(match.known.spec, typed);
    if (broken !== undefined) {
      findings.problems.push({ file: variable, line: 0, column: 0, key: match.path.join("."), message: broken });
      continue;
    }
    const setting = read(match.known, match.path, treeOfText(match.known.spec, typed), source, findings);
    if (setting !== undefined) settings.push(setting);
  }
  return settings;
}

function findVariable(variable: string) {
  for (const known of knownKeys) {
    const path = pathIn(variable, known.parts);
    if (path !== undefined) return { known, path };
  }
  return undefined;
}

function unusedVariable(variable: string): string | undefined {
  const paths = Object.keys(unusedKeys).map((pattern) => pathIn(variable, pattern.split(".")));
  return paths.map((path) => (path === undefined ? undefined : whyIgnored(path))).find((why) => why !== undefined);
}

/** The path of a key that a variable means, if it means this key; names are written in small letters. */
function pathIn(variable: string, key: readonly string[]): readonly string[] | undefined {
  const parts = variable.slice(environmentPrefix.length).split("__");
  if (key.length !== parts.length) return undefined;
  const path = key.map((part, i) => (part === "*" ? (parts[i] ?? "").toLowerCase() : part));
  const fits = key.every((part, i) =>
    part === "*" ? isPlainName(path[i] ?? "") : plain(part) === plain(parts[i] ?? ""),
  );
  return fits ? path : undefined;
}

const plain = (name: string): string => name.replaceAll("_", "").toLowerCase();
