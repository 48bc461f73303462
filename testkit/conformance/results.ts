import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CheckName } from "./checks.ts";
import type { KitDriver } from "./driver.ts";

/** What a whole run of the kit found out about one driver. `docs/runtimes.md` is made of these files. */
export interface KitResults {
  readonly driver: string;
  readonly version: string;
  readonly passed: readonly CheckName[];
}

const dir = join(import.meta.dir, "results");
const fileOf = (id: string): string => join(dir, `${id}.json`);

export function writeResults({ id, version }: KitDriver, passed: readonly CheckName[]): void {
  mkdirSync(dir, { recursive: true });
  const results: KitResults = { driver: id, version, passed };
  writeFileSync(fileOf(id), `${JSON.stringify(results, null, 2)}\n`);
}

/** Undefined for a driver with which the kit never ran. */
export function resultsOf({ id }: KitDriver): KitResults | undefined {
  return existsSync(fileOf(id)) ? (JSON.parse(readFileSync(fileOf(id), "utf8")) as KitResults) : undefined;
}
