import { lstatSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { writeAtomically } from "./atomic-file.ts";

/** A settings file that belongs to the user: links are followed, and its rights stay as they are. */
export interface SettingsFile {
  /** Undefined when there is none; throws for bytes that are no text. */
  read(): string | undefined;
  write(text: string): void;
  remove(): void;
}

export function settingsFile(path: string): SettingsFile {
  return {
    read: () => {
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
    },
    write: (text) => {
      const there = statSync(path, { throwIfNoEntry: false });
      const mode = there === undefined ? undefined : there.mode & 0o777;
      writeAtomically(there === undefined ? path : realpathSync(path), text, mode);
    },
    remove: () => rmSync(path, { force: true }),
  };
}
