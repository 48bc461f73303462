import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JudgingValues, KnownSettings } from "../ports/settings.ts";
import { writeAtomically } from "./atomic-file.ts";
import { makeWithin } from "./writable.ts";

export function knownSettings(state: string): KnownSettings {
  const file = join(state, "run", "judging.json");
  return {
    read: () => {
      if (!existsSync(file)) return undefined;
      try {
        return JSON.parse(readFileSync(file, "utf8")) as JudgingValues;
      } catch (error) {
        // Another program wrote over it, so nothing is known.
        if (error instanceof SyntaxError) return undefined;
        throw error;
      }
    },
    write: (values) => {
      makeWithin(join(state, "run"), 1);
      writeAtomically(file, `${JSON.stringify(values)}\n`, 0o600);
    },
  };
}
