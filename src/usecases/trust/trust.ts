import { Failure } from "../../domain/failure.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, list as listOf, noFields, oneOf, type SchemaOf, text } from "../../domain/schema/schema.ts";
import type { ProgramTrust, TrustedPrograms } from "../../ports/trusted-programs.ts";
import type { Effect, Whereabouts } from "../operation.ts";

export type { ProgramTrust } from "../../ports/trusted-programs.ts";

interface Where {
  readonly at?: Whereabouts;
}

interface NamedPrograms extends Where {
  readonly names: readonly string[];
}

const namedPrograms: SchemaOf<NamedPrograms> = fields(
  { names: listOf(text) },
  { at: oneOf(["project", "repository"]) },
);

export const list: Effect<Where, readonly ProgramTrust[]> = {
  kind: "effect",
  request: fields({}, { at: oneOf(["project", "repository"]) }),
  place: "caller",
  run: async (world, { at }) => ok(await (await world.trustedPrograms(at)).list()),
};

/** Confirms programs as they are now. A name that is not listed is refused and changes nothing. */
export const add: Effect<NamedPrograms, readonly ProgramTrust[]> = {
  kind: "effect",
  request: namedPrograms,
  place: "caller",
  operatorOnly: true,
  action: () => "confirm programs of the repository",
  run: async (world, { names, at }) => change(await world.trustedPrograms(at), names, "confirmed"),
};

export const remove: Effect<NamedPrograms, readonly ProgramTrust[]> = {
  kind: "effect",
  request: namedPrograms,
  place: "caller",
  operatorOnly: true,
  action: () => "change which programs are confirmed",
  run: async (world, { names, at }) => change(await world.trustedPrograms(at), names, "withdrawn"),
};

/** Throws `filters-not-ready` where files of the project cannot be checked out as plain git would. */
export const check: Effect<object, null> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => {
    if ((await world.quickGit()).hasPlainFiles()) return ok(null);
    const filters = await (await world.trustedPrograms()).problems();
    if (filters.length > 0) throw new Failure({ kind: "filters-not-ready", filters });
    return ok(null);
  },
};

async function change(
  programs: TrustedPrograms,
  names: readonly string[],
  to: "confirmed" | "withdrawn",
): Promise<Result<readonly ProgramTrust[], Refusal>> {
  const all = (await programs.list()).map(({ name }) => name);
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) {
    const near = nearest(unknown, all);
    const extra = { value: unknown, allowed: all, ...(near === undefined ? {} : { nearest: near }) };
    return no(invalid("name", "is no filter, hook or attributes that this repository has", extra));
  }
  // A filter may have any name, also the name of a hook or attribute.
  const twice = names.find((name) => all.filter((other) => other === name).length > 1);
  if (twice !== undefined) return no(invalid("name", "names two things; rename the filter", { value: twice }));
  await programs.change(names, to);
  return ok((await programs.list()).filter(({ name }) => names.includes(name)));
}
