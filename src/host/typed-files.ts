import { existsSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import type { TypedFiles } from "../ports/project-files.ts";

export const typedFiles = (cwd: string): TypedFiles => ({
  absolute: (path) => resolve(cwd, path),
  exists: existsSync,
  remove: (path) => rmSync(path, { recursive: true, force: true }),
});
