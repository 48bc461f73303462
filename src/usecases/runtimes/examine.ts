import { capabilities } from "../../domain/agent/capability.ts";
import { allowedEnvironment } from "../../domain/agent/environment.ts";
import { chooseModel } from "../../domain/agent/model.ts";
import { type BrokenRuntime, brokenRefusal, brokenWords } from "../../domain/agent/runtime-spec.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, list, noFields, type SchemaOf, text } from "../../domain/schema/schema.ts";
import type { FoundProgram, LoginStanding, RuntimeFacts, RuntimeProbes } from "../../ports/runtime.ts";
import type { Settings } from "../../ports/settings.ts";
import { chooseRuntime } from "../agents/choose-runtime.ts";
import type { Effect, World } from "../operation.ts";
import type { KnownLimit } from "./limits.ts";

export interface ListedRuntime extends RuntimeFacts {
  /** The capabilities whose agents get this runtime, by the settings. */
  readonly usedFor: readonly string[];
}

export interface ProbedRuntime extends ListedRuntime {
  /** Null for a program of our own, and where there is a problem. */
  readonly found: FoundProgram | null;
  readonly problem: string | null;
  readonly login: LoginStanding;
  /** The newest limit that an agent of it met; null where no turn did. */
  readonly limit: KnownLimit | null;
}

/** `bad`: an agent would fail. `warn`: an agent may fail. `info`: a fact. */
export interface Finding {
  readonly runtime: string | null;
  readonly check: "file" | "program" | "login" | "quota" | "model" | "guard" | "sandbox" | "committer" | "environment";
  readonly level: "ok" | "info" | "warn" | "bad";
  readonly says: string;
  /** What to do about it, with the command to type. */
  readonly next: string | null;
}

export interface RuntimeReport {
  readonly runtimes: readonly ProbedRuntime[];
  readonly findings: readonly Finding[];
  /** Names of variables of this shell that no agent of these runtimes gets. */
  readonly dropped: readonly string[];
}

export interface RuntimeList {
  readonly runtimes: readonly ListedRuntime[];
  /** Runtime files of the project that cannot be used. */
  readonly broken: readonly BrokenRuntime[];
}

/** The runtimes of this version and of this project, and which agents get them. Starts no program. */
export const listRuntimes: Effect<object, RuntimeList> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => {
    const probes = await world.runtimeProbes();
    return ok({ runtimes: listed(probes, await world.settings()), broken: probes.broken });
  },
};

interface Named {
  readonly runtimes: readonly string[];
}

const named: SchemaOf<Named> = fields({ runtimes: list(text) });

/** Starts each program to ask for its version, and looks for signs of a login. All runtimes, if none is named. */
export const probeRuntimes: Effect<Named, readonly ProbedRuntime[]> = {
  kind: "effect",
  request: named,
  place: "caller",
  run: async (world, { runtimes }) => {
    const probes = await world.runtimeProbes();
    const chosen = chooseFrom(listed(probes, await world.settings()), runtimes, () => true, probes.broken);
    return chosen.ok ? probeAll(world, probes, chosen.value) : chosen;
  },
};

/** What would keep agents from working. The runtimes that the settings use, if none is named. */
export const examineRuntimes: Effect<Named, RuntimeReport> = {
  kind: "effect",
  request: named,
  place: "caller",
  run: async (world, { runtimes }) => {
    const probes = await world.runtimeProbes();
    const settings = await world.settings();
    const chosen = chooseFrom(listed(probes, settings), runtimes, ({ usedFor }) => usedFor.length > 0, probes.broken);
    if (!chosen.ok) return chosen;
    const shell = await world.callerShell();
    const all = await probeAll(world, probes, chosen.value);
    if (!all.ok) return all;
    const seen = all.value;
    const guards = await Promise.all(seen.map((one) => guardFinding(probes, one)));
    const kept = allowedEnvironment(
      shell.variables,
      seen.flatMap(({ environment }) => environment),
    );
    const dropped = Object.keys(shell.variables)
      .filter((name) => !Object.hasOwn(kept, name) && !ownAnyway.has(name))
      .sort();
    return ok({
      runtimes: seen,
      findings: [
        ...probes.broken.map(brokenFinding),
        ...seen.flatMap((one, at) => [
          programFinding(one),
          ...loginFindings(one),
          ...quotaFindings(one),
          ...modelFindings(settings, one, shell.variables),
          ...(guards[at] ?? []),
        ]),
        await sandboxFinding(world),
        committerFinding(await shell.unknownCommitter()),
        droppedFinding(dropped),
      ],
      dropped,
    });
  },
};

/** Variables that every process has anew: an agent gets its own. */
const ownAnyway: ReadonlySet<string> = new Set(["HOME", "PWD", "OLDPWD", "SHLVL", "_", "COLUMNS", "LINES"]);

function listed({ all }: RuntimeProbes, settings: Settings): readonly ListedRuntime[] {
  return all.map((facts) => ({
    ...facts,
    usedFor: capabilities.filter((capability) => {
      const choice = chooseRuntime(settings, undefined, capability);
      return choice.ok && choice.value.runtime === facts.id;
    }),
  }));
}

function chooseFrom(
  all: readonly ListedRuntime[],
  names: readonly string[],
  otherwise: (runtime: ListedRuntime) => boolean,
  broken: readonly BrokenRuntime[],
): Result<readonly ListedRuntime[], Refusal> {
  if (names.length === 0) return ok(all.filter(otherwise));
  const ids = all.map(({ id }) => id);
  // The longer name of a driver means the same program.
  const idOf = (name: string): string | undefined =>
    all.find(({ id, drivers }) => name === id || drivers.some((driver) => name === `${id}:${driver.id}`))?.id;
  const wanted = names.map(idOf);
  const unknown = names.find((_, at) => wanted[at] === undefined);
  if (unknown === undefined) return ok(all.filter(({ id }) => wanted.includes(id)));
  const unusable = broken.find(({ id }) => id === unknown);
  if (unusable !== undefined) return no(invalid("runtime", brokenRefusal(unusable), { value: unknown }));
  const near = nearest(unknown, ids);
  const extra = { value: unknown, allowed: ids, ...(near === undefined ? {} : { nearest: near }) };
  return no(invalid("runtime", "is not a runtime this program can start", extra));
}

async function probeAll(
  world: World,
  probes: RuntimeProbes,
  chosen: readonly ListedRuntime[],
): Promise<Result<readonly ProbedRuntime[], Refusal>> {
  const limits = await world.call("runtime.readLimits", { runtimes: chosen.map(({ id }) => id) });
  if (!limits.ok) return limits;
  const probed = async (runtime: ListedRuntime): Promise<ProbedRuntime> => {
    const [program, login] = await Promise.all([probes.program(runtime.id), probes.login(runtime.id)]);
    const limit = limits.value.find((one) => one.runtime === runtime.id) ?? null;
    return program.ok
      ? { ...runtime, found: program.value, problem: null, login, limit }
      : { ...runtime, found: null, problem: program.refusal, login, limit };
  };
  return ok(await Promise.all(chosen.map(probed)));
}

function brokenFinding(broken: BrokenRuntime): Finding {
  const next = "mend it, then look again: ov config validate";
  return { runtime: broken.id, check: "file", level: "bad", says: brokenWords(broken), next };
}

function programFinding({ id, program, found, problem, advice }: ProbedRuntime): Finding {
  const about = { runtime: id, check: "program" } as const;
  if (problem !== null) {
    const next = `${advice.program ?? `install ${program}`}; other programs that are here: ov runtimes probe`;
    return { ...about, level: "bad", says: problem, next };
  }
  if (found !== null && found.version === null) {
    const says = `${found.at} --version said nothing within 15 s: the machine is busy, or the program waits for something`;
    return { ...about, level: "warn", says, next: `see what it does: ${program} --version` };
  }
  const says = found === null ? "part of ov" : `${found.version} at ${found.at}`;
  return { ...about, level: "ok", says, next: null };
}

function loginFindings({ id, login, problem, advice }: ProbedRuntime): readonly Finding[] {
  const about = { runtime: id, check: "login" } as const;
  if (login.kind === "unknown" || problem !== null) return [];
  if (login.kind === "seen") return [{ ...about, level: "ok", says: `by ${login.by}`, next: null }];
  const next = advice.login ?? null;
  return login.certain
    ? [{ ...about, level: "bad", says: "its program is not logged in", next }]
    : [{ ...about, level: "warn", says: "no sign of a login; settings of its own may have one", next }];
}

function quotaFindings({ id, limit }: ProbedRuntime): readonly Finding[] {
  if (limit === null || !limit.lasts || limit.resetAt === null) return [];
  const says = `${limit.said}; ${limit.agent} met it, and it is over at ${new Date(limit.resetAt).toISOString()}`;
  return [{ runtime: id, check: "quota", level: "warn", says, next: "its agents go on by themselves then" }];
}

/** The models of the capabilities that have this runtime; a gateway needs its token in this shell. */
function modelFindings(
  settings: Settings,
  { id, usedFor }: ProbedRuntime,
  variables: Readonly<Record<string, string | undefined>>,
): readonly Finding[] {
  const about = { runtime: id, check: "model" } as const;
  const byModel = new Map<string, string[]>();
  const bad: Finding[] = [];
  for (const capability of usedFor) {
    const choice = chooseRuntime(settings, undefined, capability);
    const model = choice.ok ? chooseModel(settings, { asked: undefined, capability, choice: choice.value }) : choice;
    if (!model.ok) {
      const says = `models.${capability} names a model of a gateway, which ${id} cannot use`;
      bad.push({ ...about, level: "bad", says, next: `ov config set models.${capability} <another model>` });
      continue;
    }
    const name = model.value.model ?? "its own default";
    byModel.set(name, [...(byModel.get(name) ?? []), capability]);
    const variable = model.value.terms?.gateway?.tokenVariable;
    if (variable === undefined || (variables[variable] ?? "") !== "") continue;
    const says = `${capability}s need the token of a gateway, and ${variable} is not set in this shell`;
    bad.push({ ...about, level: "bad", says, next: `export ${variable}=<token>` });
  }
  const texts = [...byModel].map(([model, users]) => `${model} (${users.join(", ")})`);
  return texts.length === 0 ? bad : [{ ...about, level: "info", says: texts.join(", "), next: null }, ...bad];
}

async function guardFinding(probes: RuntimeProbes, { id, file, guarded }: ProbedRuntime): Promise<readonly Finding[]> {
  const about = { runtime: id, check: "guard" } as const;
  if (file !== null) {
    const says = "it is asked over the protocol; what its program does not ask about is not guarded";
    return [{ ...about, level: "info", says, next: null }];
  }
  if (!guarded) return [];
  const problem = await probes.guardProblem(id);
  if (problem === undefined) return [{ ...about, level: "ok", says: "denies and allows as it should", next: null }];
  const next = "make sure that this ov can be run by agents: ov guard test -- 'git push'";
  return [{ ...about, level: "bad", says: problem, next }];
}

async function sandboxFinding(world: World): Promise<Finding> {
  const mode = await (await world.configuration()).get("sandbox.mode");
  const about = { runtime: null, check: "sandbox" } as const;
  const says = `sandbox.mode is ${mode.ok ? String(mode.value) : "unknown"}`;
  if (!mode.ok || mode.value !== "off") return { ...about, level: "info", says, next: null };
  const next = "switch the guard on with: ov config set sandbox.mode guard";
  return { ...about, level: "warn", says: `${says}: nothing keeps agents from doing harm`, next };
}

function committerFinding(unknown: string | undefined): Finding {
  const about = { runtime: null, check: "committer" } as const;
  if (unknown === undefined) return { ...about, level: "ok", says: "git knows who commits", next: null };
  const next = "git config --global user.name <name>, and user.email";
  return { ...about, level: "bad", says: `git does not know who commits: ${unknown}`, next };
}

function droppedFinding(dropped: readonly string[]): Finding {
  const some = dropped.slice(0, 12).join(", ");
  const more = dropped.length > 12 ? `, and ${dropped.length - 12} more (--json lists all)` : "";
  const says =
    dropped.length === 0
      ? "every variable of this shell reaches agents"
      : `${dropped.length} variables of this shell do not reach agents: ${some}${more}`;
  return { runtime: null, check: "environment", level: "info", says, next: null };
}
