import { nearest } from "../../domain/name/nearest.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, flag, list as listOf, noFields, oneOf, orNull, text } from "../../domain/schema/schema.ts";
import type { ConfigChange, ConfigKey, ConfigProblem, ConfigSaved, WantedSetting } from "../../ports/settings.ts";
import { makeBranchCommand } from "../branches/branches.ts";
import type { Effect, Whereabouts, World } from "../operation.ts";

export type { ConfigKey, ConfigProblem, ConfigSaved } from "../../ports/settings.ts";

export interface SetRequest {
  readonly key: string;
  readonly value: string;
  /** Writes this machine's own file instead of the project's. */
  readonly local: boolean;
  readonly at?: Whereabouts;
}

export const get: Effect<{ readonly key: string }, unknown> = {
  kind: "effect",
  request: fields({ key: text }),
  place: "caller",
  run: async (world, { key }) => (await world.configuration()).get(key),
};

export const explain: Effect<{ readonly key: string }, ConfigKey> = {
  kind: "effect",
  request: fields({ key: text }),
  place: "caller",
  run: async (world, { key }) => (await world.configuration()).explain(key),
};

/** All keys, or those of a section. */
export const list: Effect<{ readonly section?: string | undefined }, readonly ConfigKey[]> = {
  kind: "effect",
  request: fields({}, { section: text }),
  place: "caller",
  run: async (world, { section }) => {
    const configuration = await world.configuration();
    const all = await configuration.list(section);
    if (section === undefined || all.length > 0) return ok(all);
    const near = nearest(section, configuration.sections());
    const extra = near === undefined ? { value: section } : { value: section, nearest: near };
    return no(invalid("section", "has no keys", extra));
  },
};

export const validate: Effect<
  object,
  { readonly problems: readonly ConfigProblem[]; readonly warnings: readonly ConfigProblem[] }
> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => {
    const configuration = await world.configuration();
    const { runtimes: described, ...found } = await configuration.problems();
    const runtimes = [...world.runtimes, ...described];
    const named = (await configuration.list("runtime")).filter(
      ({ key, value }) => isRuntimeKey(key) && typeof value === "string" && value !== "",
    );
    const unknown = named.filter(({ value }) => !runtimes.includes(String(value)));
    const problems = unknown.map(({ key, value, origin }): ConfigProblem => {
      const [, file = origin, line = "1"] = /^(.*):(\d+)$/s.exec(origin) ?? [];
      const near = nearest(String(value), runtimes);
      const message = `${JSON.stringify(value)} is not a runtime of this version or of this project: ${runtimes.join(", ")}`;
      return { file, line: Number(line), column: 1, key, message, ...(near === undefined ? {} : { nearest: near }) };
    });
    return ok({ ...found, problems: [...found.problems, ...problems] });
  },
};

const isRuntimeKey = (key: string): boolean => key === "runtime.default" || key.startsWith("runtime.capabilities.");

/** Sets one key. What does not fit is refused and changes nothing. */
export const set: Effect<SetRequest, ConfigChange> = {
  kind: "effect",
  request: fields({ key: text, value: text, local: flag }, { at: oneOf(["project", "repository"]) }),
  place: "caller",
  operatorOnly: true,
  action: ({ key }) => `set ${key}`,
  run: async (world, { key, value, local, at }) => {
    const configuration = await world.configuration(at);
    const known = await configuration.explain(key);
    if (!known.ok) return known;
    const unknown = await unknownValue(world, { key, typed: value.trim(), at });
    if (unknown !== undefined) return no(unknown);
    const changed = await configuration.set(key, value, { local });
    if (changed.ok) await tellEngine(world, key, at);
    return changed;
  },
};

/** The text of a file of settings, as its author wrote it. */
export const readFile: Effect<{ readonly local: boolean }, { readonly file: string; readonly text: string }> = {
  kind: "effect",
  request: fields({ local: flag }),
  place: "caller",
  run: async (world, options) => ok((await world.configuration()).file(options)),
};

export interface SaveRequest {
  readonly changes: readonly WantedSetting[];
  readonly local: boolean;
  /** The text of the file when the caller read it. */
  readonly seen: string;
}

/** Sets several keys in one step. Refused as a whole when one does not fit, or when the file was edited meanwhile. */
export const save: Effect<SaveRequest, ConfigSaved> = {
  kind: "effect",
  request: fields<SaveRequest>({
    changes: listOf(fields({ key: text, value: orNull(text) })),
    local: flag,
    seen: text,
  }),
  place: "caller",
  operatorOnly: true,
  action: ({ changes }) => `set ${changes.map(({ key }) => key).join(", ")}`,
  run: async (world, { changes, local, seen }) => {
    const configuration = await world.configuration();
    for (const { key, value } of changes) {
      const known = await configuration.explain(key);
      if (!known.ok) return known;
      const unknown =
        value === null ? undefined : await unknownValue(world, { key, typed: value.trim(), at: undefined });
      if (unknown !== undefined) return no(unknown);
    }
    const saved = await configuration.save(changes, { local, seen });
    if (saved.ok && saved.value.isWritten) for (const { key } of changes) await tellEngine(world, key, undefined);
    return saved;
  },
};

/** Takes one key out of a file. Another file, a variable or the default counts then. */
export const unset: Effect<Omit<SetRequest, "value">, ConfigChange> = {
  kind: "effect",
  request: fields({ key: text, local: flag }, { at: oneOf(["project", "repository"]) }),
  place: "caller",
  operatorOnly: true,
  action: ({ key }) => `unset ${key}`,
  run: async (world, { key, local, at }) => {
    const changed = await (await world.configuration(at)).unset(key, { local });
    if (changed.ok && changed.value.isWritten) await tellEngine(world, key, at);
    return changed;
  },
};

/** A runtime or branch that does not exist has the right form, and everything would fail later because of it. */
async function unknownValue(
  { runtimes: builtIn, branches, configuration }: World,
  { key, typed, at }: { readonly key: string; readonly typed: string; readonly at: Whereabouts | undefined },
): Promise<Refusal | undefined> {
  if (typed === "") return undefined;
  if (isRuntimeKey(key)) {
    if (builtIn.includes(typed)) return undefined;
    const runtimes = [...builtIn, ...(await (await configuration(at)).problems()).runtimes];
    if (runtimes.includes(typed)) return undefined;
    const near = nearest(typed, runtimes);
    const extra = { value: typed, allowed: runtimes, ...(near === undefined ? {} : { nearest: near }) };
    return invalid(key, "is not a runtime of this version or of this project", extra);
  }
  const known = key === "project.canonicalBranch" ? await branches(at) : undefined;
  if (known === undefined || (await known.has(typed))) return undefined;
  const toMake = await makeBranchCommand(known, typed);
  return invalid(key, `is not a branch of this repository; create it first: ${toMake}`, { value: typed });
}

/**
 * Tells a running engine of the new settings. A raised budget may free an agent, so a change of budgets also starts an
 * engine.
 */
async function tellEngine(world: World, key: string, at: Whereabouts | undefined): Promise<void> {
  const engine = await world.engine(at);
  if (engine !== undefined && !(await engine.wake()) && key.startsWith("budgets.")) await engine.ensure();
}
