import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { RuntimeFiles } from "../domain/agent/runtime-spec.ts";
import { recordName, stateDirName } from "../domain/project/place.ts";
import { shellWord } from "../domain/text/shell-word.ts";
import { assemble, type Origins } from "./assemble.ts";
import { collect, type Setting, type Source } from "./collect.ts";
import type { ReadyConfig } from "./compiled.ts";
import { collectEnvironment } from "./environment.ts";
import { findKey } from "./keys.ts";
import { type ConfigProblem, type Findings, noFindings, printable } from "./problem.ts";
import { loadRuntimeFiles } from "./runtime-files.ts";
import type { Config } from "./schema.ts";
import { textOf } from "./source-text.ts";
import { type ConfigFiles, type Environment, fileInForce } from "./sources.ts";

export interface Loaded {
  /** Whether the configuration may be used. When not, `config` has defaults in place of wrong values. */
  readonly ok: boolean;
  readonly config: Config;
  readonly warnings: readonly ConfigProblem[];
  readonly problems: readonly ConfigProblem[];
  /** Notices for every command: a file was not found, and its last known copy counts. */
  readonly notices: readonly string[];
  readonly origins: Origins;
  /** The runtimes that the project describes itself. Those that cannot be used are no problem of the configuration. */
  readonly runtimeFiles: RuntimeFiles;
}

/** What stays of a configuration once its sources are read. */
export const readyConfig = ({ config, warnings, notices, origins, runtimeFiles }: Loaded): ReadyConfig => ({
  config,
  runtimeFiles,
  warnings,
  notices,
  limitSources: Object.fromEntries(
    Object.entries(origins)
      .filter(([key]) => key.startsWith("agents.max"))
      .map(([key, { file }]) => [key, file]),
  ),
});

/** Defaults, then the project's file, this machine's file and the environment. Reports everything that is wrong at once. */
export async function loadConfig(files: ConfigFiles, env: Environment): Promise<Loaded> {
  const findings = noFindings();
  const [project, local] = [fileInForce(files, "project"), fileInForce(files, "local")];
  const notices = [
    ...(project === files.project ? [] : [notInCheckout(files.project, project)]),
    ...(local === files.local ? [] : [deleted(files.local, local)]),
  ];
  if (isLost(files)) findings.problems.push({ file: files.project, line: 0, column: 0, key: "", message: lost });
  findings.problems.push(...emptied(files, "project"), ...emptied(files, "local"));
  const settings = [
    ...manifestModels(files.manifest, findings),
    ...(await readSource({ layer: "project", file: project }, findings)),
    ...(await readSource({ layer: "local", file: local }, findings)),
    ...collectEnvironment(env, findings),
  ];
  const { config, origins } = assemble(settings, basename(files.root) || "project", findings);
  const misplaced = whyNoPlace(files, config.worktrees.baseDir);
  const origin = origins["worktrees.baseDir"];
  if (misplaced !== undefined && origin !== undefined)
    findings.problems.push({ ...origin, key: "worktrees.baseDir", message: misplaced });
  const problems = printable(findings.problems);
  const warnings = printable(findings.warnings);
  const runtimeFiles = await loadRuntimeFiles(files);
  return { ok: problems.length === 0, config, warnings, problems, notices, origins, runtimeFiles };
}

/** The models in the manifest. A manifest that cannot be read is reported and stops no command. */
function manifestModels(file: string, findings: Findings): readonly Setting[] {
  const text = textOf(file);
  const warn = (message: string): readonly Setting[] => {
    findings.warnings.push({ file, line: 0, column: 0, key: "agents", message });
    return [];
  };
  if (!text.ok) return warn(text.why);
  if (text.value.trim() === "") return [];
  try {
    const { agents } = Object(JSON.parse(text.value));
    return Object.entries(Object(agents)).flatMap(([name, row]): Setting[] => {
      const found = findKey(`models.${name}`);
      const value: unknown = Object(row).model;
      if (found === undefined || typeof value !== "string" || value.trim() === "") return [];
      return [{ ...found, value: value.trim(), origin: { layer: "project", file, line: 0, column: 0 } }];
    });
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    return warn("is not JSON: the models in it do not count; make it again with: ov update --manifest");
  }
}

/** Worktrees are made and removed there, so it must be a directory of its own. */
function whyNoPlace({ root, state }: ConfigFiles, baseDir: string): string | undefined {
  const place = resolve(join(root, baseDir));
  const isIn = (inner: string, outer: string): boolean =>
    inner === outer || inner.startsWith(outer === "/" ? outer : `${outer}/`);
  if (isIn(root, place)) return "must not be the root of the project, nor a directory above it";
  // The state directory is in the git directory that all worktrees share.
  const common = basename(state) === stateDirName ? dirname(state) : join(root, ".git");
  if (isIn(place, join(root, ".git")) || isIn(place, common)) return "must not be in the git directory";
  const stat = existsSync(place) ? statSync(place) : undefined;
  return stat?.isDirectory() === false ? "must be a directory, but is a file" : undefined;
}

/**
 * Loads the settings for commands that must work while a settings file is broken, such as `ov stop`. The last known copy
 * of a broken file counts in place of the file. Without a copy, a broken `config.local.yaml` counts as missing. Undefined
 * when there are no usable settings even so.
 */
export async function loadLastKnown(
  files: ConfigFiles,
  env: Environment,
  problems: readonly ConfigProblem[],
): Promise<Loaded | undefined> {
  const isBroken = (layer: "project" | "local"): boolean => problems.some(({ file }) => file === files[layer]);
  const broken = (["project", "local"] as const).filter(isBroken);
  const { lastKnown } = files;
  if (broken.length === 0 || (isBroken("project") && !existsSync(lastKnown.project))) return undefined;
  const known = Object.fromEntries(broken.map((layer) => [layer, lastKnown[layer]]));
  const loaded = await loadConfig({ ...files, ...known }, env);
  if (!loaded.ok) return undefined;
  const notices = broken.map((layer) => brokenFile(files[layer], existsSync(lastKnown[layer]), problems));
  return { ...loaded, notices: [...notices, ...loaded.notices] };
}

function brokenFile(path: string, hasCopy: boolean, problems: readonly ConfigProblem[]): string {
  const first = problems.find(({ file }) => file === path);
  const where = first === undefined || first.line === 0 ? "" : ` (line ${first.line}, column ${first.column})`;
  const what = [first?.key, first?.message].filter(Boolean).join(" ");
  const instead = hasCopy ? "its last known copy counts" : "it counts as not there";
  return `${path} cannot be used: ${what}${where}; ${instead} for this command; mend it, then look again: ov config validate`;
}

/** The project was set up, so it had settings. Without them, work would land that no gate has checked. */
const isLost = (files: ConfigFiles): boolean =>
  !existsSync(files.project) && !existsSync(files.lastKnown.project) && existsSync(join(files.state, recordName));

const lost =
  "is gone, and no copy of it is known, although this project was set up; check out a branch that has it, or make a new one with: ov init";

/**
 * A full disk or a slip of the hand may have emptied a file. The defaults would take its gates away, and nothing would check
 * what lands.
 */
export function emptied(files: ConfigFiles, layer: "project" | "local"): readonly ConfigProblem[] {
  const [file, copy] = [files[layer], files.lastKnown[layer]];
  if (!existsSync(file) || !isBlank(file) || !existsSync(copy) || isBlank(copy)) return [];
  const message = `is empty; put its last known copy back: cp ${shellWord(copy)} ${shellWord(file)}; if the defaults are meant, write a comment into it`;
  return [{ file, line: 0, column: 0, key: "", message }];
}

function isBlank(file: string): boolean {
  const text = textOf(file);
  return text.ok && text.value.trim() === "";
}

/** Which of the reasons it is, only git could say. */
const notInCheckout = (file: string, copy: string): string =>
  `this checkout has no ${file}; its last known copy counts: ${copy}; it was deleted (ov init puts it back), is left out by a sparse checkout, or is not on this branch`;

const deleted = (file: string, copy: string): string =>
  `${file} is gone; its last known copy counts, delete that to do without: ${copy}`;

/** The settings in a text. Its problems go to the findings. */
export async function settingsOf(text: string, source: Source, findings: Findings): Promise<readonly Setting[]> {
  if (text.trim() === "") return [];
  const { parseYaml } = await import("./yaml.ts");
  const { tree, errors, warnings } = parseYaml(text);
  findings.problems.push(...errors.map((error) => ({ file: source.file, key: "", ...error })));
  findings.warnings.push(...warnings.map((warning) => ({ file: source.file, key: "", ...warning })));
  return tree === undefined ? [] : collect(tree, source, findings);
}

async function readSource(source: Source, findings: Findings): Promise<readonly Setting[]> {
  const text = textOf(source.file);
  if (text.ok) return settingsOf(text.value, source, findings);
  findings.problems.push({ file: source.file, line: 0, column: 0, key: "", message: text.why });
  return [];
}
