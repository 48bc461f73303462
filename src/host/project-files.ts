import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ProjectFiles } from "../ports/project-files.ts";
import { writeAtomically } from "./atomic-file.ts";
import { randomIds } from "./ids.ts";
import { readText } from "./read-text.ts";
import { specFiles } from "./spec-files.ts";
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
    ...specFiles(join(overstoryDir, "specs")),
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
