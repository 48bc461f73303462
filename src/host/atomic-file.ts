import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Replaces a file so that a reader sees the old text or the new one, never a part, whenever we die. */
export function writeAtomically(path: string, text: string, mode = 0o644): void {
  // A directory that is made for a private file is as private as the file.
  mkdirSync(dirname(path), { recursive: true, mode: (mode & 0o077) === 0 ? 0o700 : 0o755 });
  const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2, 8)}.tmp`;
  try {
    writeFileSync(temporary, text, { mode });
    renameSync(temporary, path);
  } catch (error) {
    // On a full disk it is tried again and again; each try would leave something behind.
    rmSync(temporary, { force: true });
    throw error;
  }
}
