import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Every file below a directory with a digest of its bytes, so that two looks can be compared. Sockets are only named. */
export function snapshotOf(dir: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const path of readdirSync(dir, { recursive: true, encoding: "utf8" }).sort()) {
    found[path] = digestOf(join(dir, path));
  }
  return found;
}

function digestOf(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return "gone";
  if (stat.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  if (!stat.isFile()) return stat.isDirectory() ? "directory" : "special";
  return new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");
}
