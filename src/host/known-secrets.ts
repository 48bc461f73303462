import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Redaction, redactionOf, secretValues } from "../domain/text/redact.ts";
import { readText, statIfThere } from "./file-access.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Takes out the secrets of this process's environment and of every environment that was captured for agents. Those are
 * read again when one came or went.
 */
export function projectRedaction(state: string, env: Variables): Redaction {
  const own = secretValues(env);
  const captured = join(state, "run", "env");
  let seen: number | undefined;
  let known: readonly string[] = own;
  return redactionOf(() => {
    const changed = statIfThere(captured)?.mtimeMs;
    if (changed !== seen) {
      known = changed === undefined ? own : [...own, ...secretsIn(captured)];
      seen = changed;
    }
    return known;
  });
}

function secretsIn(captured: string): readonly string[] {
  return readdirSync(captured)
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => secretValues(variablesIn(readText(join(captured, name)))));
}

/** A file that is being deleted or is damaged tells nothing. */
function variablesIn(text: string | undefined): Variables {
  try {
    return text === undefined ? {} : (JSON.parse(text) as Variables);
  } catch {
    return {};
  }
}
