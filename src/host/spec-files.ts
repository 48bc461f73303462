import { existsSync, lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { failureOf } from "../domain/failure.ts";
import type { ProjectFiles } from "../ports/project-files.ts";
import { writeAtomically } from "./atomic-file.ts";
import { randomIds } from "./ids.ts";
import { readText } from "./read-text.ts";
import { writable } from "./writable.ts";

/**
 * Specifications of tasks. Every text that was ever given lies under its digest in the state directory, so that the
 * database can name one before it is the one that counts; `<task>.md` in the checkout is the copy for people and tools.
 */
export function specFiles(dirs: {
  readonly shown: string;
  readonly given: string;
}): Pick<ProjectFiles, "writeSpec" | "readSpec"> {
  const readable = (taskId: string): string => join(dirs.shown, `${taskId}.md`);
  const given = (digest: string): string => join(dirs.given, `${digest}.md`);
  return {
    writeSpec: async (taskId, text) => {
      const digest = randomIds.digest(text);
      const path = given(digest);
      writable(path, () => writeAtomically(path, text, 0o600));
      return { path: readable(taskId), digest };
    },
    readSpec: async (taskId, digest) => {
      const path = readable(taskId);
      // A branch may bring a symbolic link to a file that its author may not read.
      const shown = lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? readText(path) : undefined;
      const shownDigest = shown === undefined ? undefined : randomIds.digest(shown);
      if (shown !== undefined && shownDigest === digest) return { path, text: shown, byHand: false };
      const wanted = digest === null ? undefined : readText(given(digest));
      if (digest === null || wanted === undefined)
        return shown === undefined ? undefined : { path, text: shown, byHand: true };
      const strange = shownDigest !== undefined && !existsSync(given(shownDigest));
      if (shown !== undefined && strange && isNewer(path, given(digest))) return { path, text: shown, byHand: true };
      renew(path, wanted);
      return { path, text: wanted, byHand: false };
    },
  };
}

/** A person's text counts when it was written after the one that was given; before, it is what that one replaced. */
const isNewer = (path: string, than: string): boolean => statSync(path).mtimeMs > statSync(than).mtimeMs;

/** Whoever reads the specification next tries again, so a place that takes no file must not keep it from being read. */
function renew(path: string, text: string): void {
  try {
    writable(path, () => writeAtomically(path, text));
  } catch (error) {
    if (failureOf(error).kind === "unexpected") throw error;
  }
}
