import { writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeWithin } from "../writable.ts";

/** Writes the list that gates find by `OVERSTORY_CHANGED_FILES`: each path ends with a NUL, as names may hold newlines. */
export async function saveChangedFiles(path: string, files: readonly string[]): Promise<void> {
  makeWithin(dirname(path), 5);
  writeFileSync(path, files.map((file) => `${file}\0`).join(""), { mode: 0o600 });
}
