import { type InvalidInput, invalid } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import type { ConfigKey } from "../ports/settings.ts";
import { variableFor } from "./environment.ts";
import { findKey, type KnownKey, knownKeys, nearestKey } from "./keys.ts";
import type { Loaded } from "./load.ts";
import type { Origin } from "./problem.ts";
import { describe } from "./schema/key.ts";
import { whyNoKey } from "./unused-keys.ts";

/** One key, with the place that decides its value. */
export interface Explanation extends Omit<ConfigKey, "origin"> {
  readonly origin: Origin;
}

/** The meaning of a key, its value, and the source of the value. Takes names too: `models.builder`. */
export function explain(key: string, loaded: Loaded): Result<Explanation, InvalidInput> {
  const found = findKey(key);
  if (found !== undefined) return ok(explanation(found.known, found.path, loaded));
  const unused = whyNoKey(key);
  if (unused !== undefined) return no(invalid("key", unused, { value: key }));
  const nearest = nearestKey(key);
  return no(
    invalid(
      "key",
      "is not a known configuration key",
      nearest === undefined ? { value: key } : { value: key, nearest },
    ),
  );
}

/** Every key with its value, those below a section only when one is given. Free names appear as they are in use. */
export function listConfig(loaded: Loaded, section = ""): readonly Explanation[] {
  const all = knownKeys.flatMap((known) => paths(known, loaded).map((path) => explanation(known, path, loaded)));
  return section === "" ? all : all.filter(({ key }) => key === section || key.startsWith(`${section}.`));
}

/** The keys themselves, for completions and documents. */
export const configKeys = (): readonly string[] => knownKeys.map((known) => known.pattern);

function explanation({ spec, parts }: KnownKey, path: readonly string[], loaded: Loaded): Explanation {
  const key = path.join(".");
  const name = path[parts.indexOf("*")];
  return {
    key,
    doc: spec.doc,
    type: spec.type,
    takes: describe(spec),
    ...(spec.type === "choice" ? { choices: spec.choices } : {}),
    ...(spec.type === "integer" || spec.type === "number" ? { min: spec.min, max: spec.max } : {}),
    default: (name === undefined ? undefined : spec.entries?.[name]) ?? spec.default,
    ...(spec.defaultIs === undefined ? {} : { defaultIs: spec.defaultIs }),
    value: valueAt(loaded.config, path),
    origin: loaded.origins[key] ?? { layer: "default", file: "", line: 0, column: 0 },
    variable: variableFor(path),
  };
}

function paths({ parts }: KnownKey, { config }: Loaded): readonly (readonly string[])[] {
  const star = parts.indexOf("*");
  if (star < 0) return [parts];
  const names = Object.keys(Object(valueAt(config, parts.slice(0, star))));
  return names.map((name) => parts.with(star, name));
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let here = value;
  for (const part of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, part)) return undefined;
    here = new Map<string, unknown>(Object.entries(here)).get(part);
  }
  return here;
}
