import { lstatSync, readFileSync, type Stats } from "node:fs";
import { removeAll } from "../work/trash.ts";
import { below, type TrackedFile } from "./tracked.ts";

/**
 * What this process last left in a checkout of the pool. It is kept in memory only: gates are code of agents, and could
 * write to every file that says which files are unchanged. After a restart nothing is known, and each file is written
 * again.
 *
 * A file whose inode, size, mode, mtime and ctime are as noted was not written since: a program can set mtime, but not
 * ctime. The index is believed only while its content is as noted.
 */
export interface LeftFiles {
  /** What decided how the files look, as its caller named it. */
  readonly form: string;
  isAsLeft(path: string, stat: Stats): boolean;
  /** The object that was written there. */
  idOf(path: string): string | undefined;
}

interface Noted {
  readonly form: string;
  readonly index: string;
  readonly stamps: ReadonlyMap<string, Stamp>;
}

interface Stamp {
  readonly id: string;
  readonly stat: string;
}

const noted = new Map<string, Noted>();

/** What was left with this index, once: until the next note nothing is known. An index that was changed is removed. */
export function takeLeftFiles(index: string): LeftFiles | undefined {
  const known = noted.get(index);
  noted.delete(index);
  if (known === undefined || known.index !== digestOf(index)) {
    removeAll(index);
    return undefined;
  }
  return {
    form: known.form,
    isAsLeft: (path, stat) => known.stamps.get(path)?.stat === stampOf(stat),
    idOf: (path) => known.stamps.get(path)?.id,
  };
}

/** Notes the files as they are now. Answers when a later write must show in their stat. */
export async function noteLeftFiles(
  index: string,
  { form, root, files }: { readonly form: string; readonly root: string; readonly files: readonly TrackedFile[] },
): Promise<void> {
  const stamps = new Map<string, Stamp>();
  let newest = 0;
  for (const { path, mode, oid } of files) {
    if (mode === submodule) continue;
    const stat = lstatSync(below(root, path), { throwIfNoEntry: false });
    // The system cannot have this file: it is tried again next time.
    if (stat === undefined) continue;
    newest = Math.max(newest, stat.ctimeMs);
    stamps.set(path, { id: oid, stat: stampOf(stat) });
  }
  const digest = digestOf(index);
  if (digest === undefined) return;
  // Files carry the time of the kernel's last tick. Nothing may run in the checkout before the tick of ours is over.
  if (Math.abs(Date.now() - newest) <= tickMs) await Bun.sleep(tickMs);
  noted.set(index, { form, index: digest, stamps });
}

const submodule = "160000";
const tickMs = 20;

const stampOf = ({ ino, size, mode, mtimeMs, ctimeMs, nlink }: Stats): string =>
  `${ino} ${size} ${mode} ${mtimeMs} ${ctimeMs} ${nlink}`;

function digestOf(path: string): string | undefined {
  // A pipe in its place would hold us for ever.
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  return new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");
}
