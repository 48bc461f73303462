import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { errorCode } from "../../file-access.ts";
import { absolute, type GitAnswer } from "../git.ts";

/**
 * Git passes over a directory that it may not list, with a warning and without an error. The files in it would be in no
 * snapshot, and would be deleted with the worktree.
 */
export const passedOver = ({ err }: GitAnswer): boolean =>
  /^warning: (could not open directory |unable to access '.*\.gitignore')/m.test(err);

/** Gives us, the owner, access to every directory of ours in a worktree. Links are not followed. */
export function openDirectories(root: string): void {
  visit(root, (dir) => {
    const { mode, uid } = lstatSync(dir);
    if (uid === process.getuid?.() && (mode & 0o700) !== 0o700) chmodSync(dir, (mode & 0o777) | 0o700);
  });
}

/** The directories that git passed over, with a slash at the end, as git ends the name of a directory. */
export function closedDirectories(root: string, answer: GitAnswer): readonly Buffer[] {
  const closed: Buffer[] = [];
  if (!passedOver(answer)) return closed;
  const said = asPrinted(answer.err);
  visit(root, (dir) => {
    const path = dir.length === root.length ? Buffer.from(".") : Buffer.concat([dir.subarray(root.length + 1), slash]);
    if (said.includes(`could not open directory '${asPrinted(path.toString())}'`)) closed.push(path);
  });
  return closed;
}

/** Git prints a question mark for most control characters. Here one stands for all of them. */
const asPrinted = (text: string): string => text.replaceAll(/\p{Cc}/gu, "?");

const slash = Buffer.from("/");

/** Calls `each` for the top and every directory below, before a look into it. One that stays closed has nothing below. */
function visit(root: string, each: (dir: Buffer) => void): void {
  const ownGit = absolute(root, Buffer.from(".git"));
  const left: Buffer[] = [Buffer.from(root)];
  for (let dir = left.pop(); dir !== undefined; dir = left.pop()) {
    if (dir.equals(ownGit) || !isDirectory(dir)) continue;
    each(dir);
    for (const name of namesIn(dir)) left.push(Buffer.concat([dir, slash, name]));
  }
}

const namesIn = (dir: Buffer): readonly Buffer[] => whereAllowed(() => readdirSync(dir, { encoding: "buffer" })) ?? [];

const isDirectory = (path: Buffer): boolean => whereAllowed(() => lstatSync(path))?.isDirectory() === true;

/** A path that is gone by now, or that we may not read, is passed over. */
function whereAllowed<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (["EACCES", "EPERM", "ENOENT", "ENOTDIR", "ENAMETOOLONG"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}
