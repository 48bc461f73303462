import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ProjectFiles } from "../ports/project-files.ts";
import { writeAtomically } from "./atomic-file.ts";
import { randomIds } from "./ids.ts";
import { writable } from "./writable.ts";

/** Files under `.overstory/` of one project. Blobs are named by their digest, so writing one twice is writing it once. */
export function projectFiles(overstoryDir: string): ProjectFiles {
  return {
    writeMailBlob: async (body) => {
      const path = join(overstoryDir, "mail-blobs", `${randomIds.digest(body)}.txt`);
      writable(path, () => writeAtomically(path, body));
      return path;
    },
    readMailBlob: async (path) => readText(path),
    writeSpec: async (taskId, text) => {
      const path = join(overstoryDir, "specs", `${taskId}.md`);
      writable(path, () => writeAtomically(path, text));
      return { path, digest: randomIds.digest(text) };
    },
    readSpec: async (taskId) => {
      const path = join(overstoryDir, "specs", `${taskId}.md`);
      const text = readText(path);
      return text === undefined ? undefined : { path, text };
    },
    removeEnvironment: async (path) => {
      if (dirname(path) === join(overstoryDir, "run", "env")) rmSync(path, { force: true });
    },
    writeEnvironment: async (values) => {
      const dir = join(overstoryDir, "run", "env");
      const path = join(dir, `${randomIds.next("env")}.json`);
      writable(path, () => {
        mkdirSync(dir, { recursive: true, mode: 0o700 });
        writeAtomically(path, JSON.stringify(values), 0o600);
      });
      return path;
    },
  };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
