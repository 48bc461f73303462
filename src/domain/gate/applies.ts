import { matchesGlob } from "../text/glob.ts";
import type { Gate } from "./gate.ts";

/**
 * Does a change of these files need the gate? Unknown files need every gate. A plain directory among the paths means
 * what is in it: a gate that never ran because of a missing `/**` would go unnoticed.
 */
export function applies({ paths }: Pick<Gate, "paths">, changed: readonly string[] | undefined): boolean {
  if (paths.length === 0 || changed === undefined) return true;
  const patterns = paths.map((path) => path.replace(/^(\.\/)+/, ""));
  return changed.some((file) => patterns.some((pattern) => covers(pattern, file)));
}

const covers = (pattern: string, file: string): boolean =>
  pattern === "" || pattern === "." || matchesGlob(file, pattern) || file.startsWith(`${pattern}/`);
