import { closeSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Transcript, Transcripts } from "../ports/transcripts.ts";
import { ifThere, openRegular, statIfThere } from "./file-access.ts";

/** A conversation of days is a few hundred megabytes; a larger file would fill the memory of a hook. */
const largestBytes = 512 * 1024 * 1024;

/** Conversations in the files of a program. `read` knows what the program writes. */
export const transcriptFiles = (
  dir: string,
  read: (path: string, text: string) => Transcript | undefined,
): Transcripts => {
  const transcript = (path: string): Transcript | undefined => {
    const file = openRegular(path, largestBytes);
    if (file === undefined) return undefined;
    try {
      return read(path, readFileSync(file, "utf8"));
    } finally {
      closeSync(file);
    }
  };
  return {
    read: transcript,
    newest: () => {
      const names = ifThere(() => readdirSync(dir)) ?? [];
      const files = names
        .filter((name) => name.endsWith(".jsonl"))
        .map((name) => join(dir, name))
        .toSorted((a, b) => (statIfThere(b)?.mtimeMs ?? 0) - (statIfThere(a)?.mtimeMs ?? 0));
      for (const path of files) {
        const found = transcript(path);
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
};
