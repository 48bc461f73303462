import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../src/config/load.ts";
import { configFiles, type Environment } from "../src/config/sources.ts";

/** The configuration of a project whose shared file has this text. */
export async function loadedConfig(text: string, env: Environment = {}) {
  const root = mkdtempSync(join(tmpdir(), "ov-config-"));
  try {
    const files = configFiles({ root, state: join(root, "state") });
    mkdirSync(join(root, ".overstory"));
    writeFileSync(files.project, text);
    return await loadConfig(files, env);
  } finally {
    rmSync(root, { recursive: true });
  }
}
