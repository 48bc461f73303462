import { lstatSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** Where an absolute path leads: links and `..` are followed as the system would, and what does not exist stays as named. */
export function realPathOf(path: string): string {
  let real = "/";
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    real = part === ".." ? dirname(real) : followed(join(real, part));
  }
  return real;
}

function followed(path: string): string {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? realpathSync(path) : path;
  } catch (error) {
    // A link that leads nowhere, or a name below a file: nothing can be reached through it.
    if (error instanceof Error && "code" in error) return path;
    throw error;
  }
}
