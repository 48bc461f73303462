import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { EnginesAbroad } from "../../ports/engine-contact.ts";
import { writeAtomically } from "../file-access.ts";

const askedDir = (state: string): string => join(state, "run", "abroad");

/**
 * Asks the engine of the project with this state directory to start one for the project at `root`. The engine has to be
 * woken after that.
 */
export function askForEngine(state: string, root: string): void {
  const dir = askedDir(state);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const name = new Bun.CryptoHasher("sha256").update(root).digest("hex");
  writeAtomically(join(dir, name), root, 0o600);
}

/** The requests that were made so. */
export const enginesAbroad = (state: string, start: EnginesAbroad["start"]): EnginesAbroad => ({
  requests: () => {
    const dir = askedDir(state);
    // A file that is still being written has a name of another form.
    const names = existsSync(dir) ? readdirSync(dir).filter((name) => /^[0-9a-f]{64}$/.test(name)) : [];
    return names.map((id) => ({ id, root: readFileSync(join(dir, id), "utf8") }));
  },
  forget: (id) => rmSync(join(askedDir(state), id), { force: true }),
  start,
});
