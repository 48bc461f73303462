import { readdirSync, readFileSync, statSync } from "node:fs";
import type { RuntimeFiles } from "../domain/agent/runtime-spec.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import type { ConfigProblem } from "./problem.ts";
import type { Config } from "./schema.ts";
import { configFiles, type Environment, environmentInUse, type Fingerprint, fingerprints } from "./sources.ts";

/** A configuration without errors, and what its author should still be told. */
export interface ReadyConfig {
  readonly config: Config;
  readonly runtimeFiles: RuntimeFiles;
  readonly warnings: readonly ConfigProblem[];
  readonly notices: readonly string[];
  /** Which file or variable set each limit of `agents.*` that is set anywhere. */
  readonly limitSources: Readonly<Record<string, string>>;
}

/** What a compiled form was made from. It is good only for exactly this. */
export interface Stamp {
  readonly program: string;
  readonly sources: readonly Fingerprint[];
  readonly environment: readonly (readonly [string, string])[];
}

/**
 * The program that compiles, so that a form made by another version is not taken for ours: the running file, or run from
 * the sources, the files of this folder. A digest of the table of keys would have to be evaluated, which is what the fast
 * path saves, or be written down, which goes stale when two changes of the table meet in a merge.
 */
function programStamp(): string {
  const files = Bun.main.startsWith("/$bunfs/") ? [runningFile()] : sourcesBelow(import.meta.dir);
  const stats = files.map((file) => statSync(file));
  return stats.map(({ mtimeMs, size, ino }) => `${mtimeMs}.${size}.${ino}`).join(" ");
}

/** Linux still names the running file after an upgrade has replaced it. */
const runningFile = (): string => (process.platform === "linux" ? "/proc/self/exe" : process.execPath);

const sourcesBelow = (dir: string): readonly string[] =>
  readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = `${dir}/${entry.name}`;
    return entry.isDirectory() ? sourcesBelow(path) : [path];
  });

/** Taken when the program starts: a source file that changes later is not the code that runs. */
const program = programStamp();

/**
 * The compiled configuration when it is still true, else undefined. Costs a look at each source and one file: hot
 * commands come through here, so this module must not reach the table of keys, nor the YAML library.
 */
export function readCompiledConfig(place: ProjectPlace, env: Environment): ReadyConfig | undefined {
  let stamp: Stamp;
  let text: string;
  try {
    stamp = stampOf(place, env);
    const path = compiledPath(place, stamp);
    // Agents can write here: to open a pipe would wait for ever.
    if (!statSync(path).isFile()) return undefined;
    text = readFileSync(path, "utf8");
  } catch {
    // The file is missing or cannot be read. Then the sources decide, and loading them reports the problem.
    return undefined;
  }
  return parseCompiled(text, stamp);
}

export const stampOf = (place: ProjectPlace, env: Environment): Stamp => ({
  program,
  sources: fingerprints(configFiles(place)),
  environment: environmentInUse(env),
});

/** Overrides have a file of their own, so that a shell with some and an agent without do not undo each other's work. */
export function compiledPath({ state }: ProjectPlace, { environment }: Stamp): string {
  const suffix = environment.length === 0 ? "" : `.${hash(JSON.stringify(environment))}`;
  return `${state}/run/config${suffix}.json`;
}

/** The stamp is the first line, so that a stale form is recognised without parsing the rest. */
export function printCompiled(stamp: Stamp, ready: ReadyConfig): string {
  return `${JSON.stringify(stamp)}\n${JSON.stringify(ready)}\n`;
}

function parseCompiled(text: string, stamp: Stamp): ReadyConfig | undefined {
  const line = JSON.stringify(stamp);
  if (!text.startsWith(`${line}\n`) || !text.endsWith("}\n")) return undefined;
  try {
    const ready: ReadyConfig = JSON.parse(text.slice(line.length + 1));
    return deepFreeze(ready);
  } catch {
    // A damaged form is worth as much as none.
    return undefined;
  }
}

/** FNV-1a, to name a file. Equality is decided by the stamp inside it. */
function hash(text: string): string {
  let state = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return state.toString(16).padStart(8, "0");
}

/** Freezes a value and all it holds. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
