import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Loaded, loadConfig } from "../src/config/load.ts";
import { type ConfigFiles, configFiles, type Environment } from "../src/config/sources.ts";

/** The texts of a project's files of settings. */
export interface GivenFiles {
  readonly project?: string | Uint8Array;
  readonly manifest?: string;
  readonly local?: string;
  readonly env?: Environment;
}

/** Loads them as a process with these variables does. */
export async function load(given: GivenFiles): Promise<Loaded> {
  return inProject(given, (files) => loadConfig(files, given.env ?? {}));
}

/** A project named `garden` with these files, for as long as it is used. */
export async function inProject<T>(
  { project, local, manifest }: GivenFiles,
  use: (files: ConfigFiles) => Promise<T>,
): Promise<T> {
  const root = join(mkdtempSync(join(tmpdir(), "ov-config-")), "garden");
  const files = configFiles({ root, state: join(root, "state") });
  mkdirSync(join(root, ".overstory"), { recursive: true });
  if (project !== undefined) writeFileSync(files.project, project);
  if (local !== undefined) writeFileSync(files.local, local);
  if (manifest !== undefined) writeFileSync(files.manifest, manifest);
  try {
    return await use(files);
  } finally {
    rmSync(join(root, ".."), { recursive: true });
  }
}
