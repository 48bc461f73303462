import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { errorCode, readText, statIfThere, writable } from "../file-access.ts";

/** Texts of the named files, as far as they exist and can be read. */
export function readTexts(root: string, names: readonly string[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const name of names) {
    const stat = statIfThere(join(root, name));
    if (stat?.isFile() !== true) continue;
    texts.set(name, stat.size > largestText ? "" : readFileSync(join(root, name), "utf8"));
  }
  return texts;
}

/** Lock files can be huge, and only their existence matters. */
const largestText = 1024 * 1024;

/** Makes a directory that is missing; says whether it did. */
export function makeDirectory(path: string, mode = 0o755): boolean {
  return writable(path, () => mkdirSync(path, { recursive: true, mode }) !== undefined);
}

/** Writes a missing file, all of it or nothing, and never over an existing one. Returns whether it wrote. */
export function createFile(path: string, text: string): boolean {
  return writable(path, () => {
    if (statIfThere(path) !== undefined) return false;
    const draft = draftOf(path);
    writeFileSync(draft, text);
    return placeDraft(draft, path);
  });
}

export interface Replacement {
  readonly bytes: string | Uint8Array;
  /** Looks at the new file before it takes the place of the old one; false leaves everything as it was. */
  readonly accept?: (draft: string) => Promise<boolean>;
  /** What the new file was made from. When the old one is different by now, everything is left as it was. */
  readonly madeFrom?: string;
}

/** Replaces a file so that readers see the old or the new one, never a part. Its permissions stay as they were. */
export async function replaceFile(path: string, { bytes, accept, madeFrom }: Replacement): Promise<boolean> {
  const draft = draftOf(path);
  const mode = statIfThere(path)?.mode;
  try {
    writable(path, () => writeFileSync(draft, bytes));
    if (mode !== undefined) chmodSync(draft, mode & 0o777);
    if (accept !== undefined && !(await accept(draft))) return false;
    if (madeFrom !== undefined && textIfAny(path) !== madeFrom) return false;
    writable(path, () => renameSync(draft, path));
    return true;
  } finally {
    // Where nothing can be written, removing a missing draft fails too and would hide the reason.
    if (existsSync(draft)) rmSync(draft, { force: true });
  }
}

/** Keeps a copy of a file, beside it unless said otherwise, under a name with the time in it; answers the path of the copy. */
export function keepCopy(path: string, now: number, as = path): string {
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, "-");
  return writable(path, () => {
    for (let attempt = 0; ; attempt++) {
      const copy = `${as}.${stamp}${attempt === 0 ? "" : `-${attempt}`}.bak`;
      try {
        copyFileSync(path, copy, constants.COPYFILE_EXCL);
        return copy;
      } catch (error) {
        if (errorCode(error) !== "EEXIST") throw error;
      }
    }
  });
}

/** The text of a file; empty when there is none. */
export const textIfAny = (path: string): string => readText(path) ?? "";

const draftOf = (path: string): string => `${path}.${process.pid}-${Math.random().toString(36).slice(2, 8)}.tmp`;

/** A link cannot replace a file that another process wrote meanwhile. Where links are not possible, a rename is used. */
function placeDraft(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
  } catch (error) {
    if (errorCode(error) === "EEXIST") {
      unlinkSync(draft);
      return false;
    }
    renameSync(draft, path);
    return true;
  }
  unlinkSync(draft);
  return true;
}
