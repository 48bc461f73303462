import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ProjectFiles } from "../ports/project-files.ts";
import { writeAtomically } from "./atomic-file.ts";
import { randomIds } from "./ids.ts";
import { sharedDir } from "./project-place.ts";
import { readText } from "./read-text.ts";
import { specFiles } from "./spec-files.ts";
import { writable } from "./writable.ts";

/** Files of one project. Blobs are named by their digest, so writing one twice is writing it once. */
export function projectFiles({ root, dir }: { readonly root: string; readonly dir: string }): ProjectFiles {
  return {
    writeMailBlob: async (body) => {
      const path = join(dir, "mail-blobs", `${randomIds.digest(body)}.txt`);
      writable(path, () => writeAtomically(path, body, 0o600));
      return path;
    },
    readMailBlob: async (path) => readText(path),
    ...specFiles({ shown: join(sharedDir(root), "specs"), given: join(dir, "specs", ".content") }),
    removeEnvironment: async (path) => {
      if (dirname(path) === join(dir, "run", "env")) rmSync(path, { force: true });
    },
    writeEnvironment: async (values) => {
      const captured = join(dir, "run", "env");
      const path = join(captured, `${randomIds.next("env")}.json`);
      writable(path, () => {
        mkdirSync(captured, { recursive: true, mode: 0o700 });
        writeAtomically(path, JSON.stringify(values), 0o600);
      });
      return path;
    },
  };
}
