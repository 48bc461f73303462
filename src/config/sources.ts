import { existsSync, readdirSync, type Stats, statSync } from "node:fs";
import { runtimeDir } from "../domain/agent/runtime-spec.ts";
import type { ProjectPlace } from "../domain/project/place.ts";

/** Where a project's configuration is written. */
export interface ConfigFiles extends ProjectPlace {
  /** Shared with everyone, tracked by git. */
  readonly project: string;
  /** This machine's own overrides, ignored by git. */
  readonly local: string;
  /** The models of capabilities, as version 0.11 has them too. What the other files say counts more. */
  readonly manifest: string;
  /** The last ones that could be used, in the state directory. They count where the checked-out branch has none. */
  readonly lastKnown: { readonly project: string; readonly local: string };
}

export type Environment = Readonly<Record<string, string | undefined>>;

export const configFiles = ({ root, state }: ProjectPlace): ConfigFiles => ({
  root,
  state,
  project: `${root}/.overstory/config.yaml`,
  local: `${root}/.overstory/config.local.yaml`,
  manifest: `${root}/.overstory/agent-manifest.json`,
  lastKnown: { project: `${state}/config/config.yaml`, local: `${state}/config/config.local.yaml` },
});

export const environmentPrefix = "OVERSTORY__";

/** The variables that override keys, by name. An empty one counts as not set. */
export function environmentInUse(env: Environment): readonly (readonly [string, string])[] {
  const used: [string, string][] = [];
  for (const name in env) {
    const value = name.startsWith(environmentPrefix) ? env[name] : undefined;
    if (value !== undefined && value !== "") used.push([name, value]);
  }
  return used.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** What tells one state of a file from another: modification time, size and inode; null when there is no file. */
export type Fingerprint =
  | readonly [path: string, mtimeMs: number, size: number, inode: number]
  | readonly [path: string, null];

export function fingerprints(files: ConfigFiles): readonly Fingerprint[] {
  const named = [fileInForce(files, "project"), fileInForce(files, "local"), files.manifest];
  return [...named.map(fingerprint), ...runtimeFilesIn(files.root).map(fingerprintIfReadable)];
}

/** The files that describe runtimes of the project, also those that are named wrongly. Most projects have none. */
export function runtimeFilesIn(root: string): readonly string[] {
  const dir = `${root}/${runtimeDir}`;
  // A link in its place that leads to itself is no directory.
  if (!existsSync(dir) || !statSync(dir).isDirectory()) return [];
  const names = readdirSync(dir).filter((name) => /\.ya?ml$/.test(name));
  return names
    .sort()
    .slice(0, mostRuntimeFiles)
    .map((name) => `${dir}/${name}`);
}

/** No project has so many; something else has filled the directory. */
const mostRuntimeFiles = 100;

/** The file that counts: the one in the checkout, else its last known copy. */
export function fileInForce(files: ConfigFiles, layer: "project" | "local"): string {
  const copy = files.lastKnown[layer];
  return !isThere(files[layer]) && isThere(copy) ? copy : files[layer];
}

function isThere(path: string): boolean {
  try {
    return statOf(path) !== undefined;
  } catch (error) {
    // A link that leads to itself. Reading it says so.
    if (error instanceof Error && "code" in error && error.code === "ELOOP") return true;
    throw error;
  }
}

/** The fingerprint of a runtime file. A file that cannot be looked at stops no command: the command that reads it reports why. */
const fingerprintIfReadable = (path: string): Fingerprint => (existsSync(path) ? fingerprint(path) : [path, null]);

/** Undefined also where `.overstory` is a plain file. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return undefined;
    throw error;
  }
}

function fingerprint(path: string): Fingerprint {
  const stat = statOf(path);
  return stat === undefined ? [path, null] : [path, stat.mtimeMs, stat.size, stat.ino];
}
