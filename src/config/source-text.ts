import { readFileSync, statSync } from "node:fs";

/** No person writes this much; something else has been put in the file's place. */
const maxBytes = 1024 * 1024;

/** The text of a source; empty where there is no file. */
export function textOf(file: string): { ok: true; value: string } | { ok: false; why: string } {
  try {
    // Agents can write here: to open a pipe would wait for ever.
    const stat = statSync(file);
    if (!stat.isFile() && !stat.isDirectory()) return { ok: false, why: "is not a file that can be read" };
    const bytes = readFileSync(file);
    if (bytes.length > maxBytes) return { ok: false, why: "is larger than any configuration (1 MiB)" };
    return { ok: true, value: bytes.toString("utf8").replace(/^\uFEFF/, "") };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return { ok: true, value: "" };
    if (typeof code !== "string") throw error;
    return { ok: false, why: `cannot be read (${code})` };
  }
}
