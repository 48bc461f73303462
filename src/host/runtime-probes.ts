import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allowedEnvironment } from "../domain/agent/environment.ts";
import type { BrokenRuntime } from "../domain/agent/runtime-spec.ts";
import type { GuardPolicy } from "../domain/guard/policy.ts";
import { no, ok } from "../domain/result.ts";
import type { LoginStanding, Runtime, RuntimeProbes } from "../ports/runtime.ts";
import type { Sandbox } from "../ports/sandbox.ts";
import { guardTrial } from "./guard-trial.ts";
import { randomIds } from "./ids.ts";
import { selfCommand } from "./own-program.ts";
import { exitsWell, probeProgram } from "./runtime-probe.ts";
import { placeOf } from "./sandbox/vendor-files.ts";

export interface ProbeTerms {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The state directory. */
  readonly state: string;
  readonly version: string;
  readonly runtimes: readonly Runtime[];
  readonly confine: Sandbox["forProbe"];
  /** The files of the project that describe some of them, by the name of the runtime. */
  readonly files: ReadonlyMap<string, string>;
  readonly broken: readonly BrokenRuntime[];
  /** The rules of a builder that works in this directory. */
  readonly rulesFor: (worktree: string) => GuardPolicy;
}

/** The runtimes as agents that are started from this shell would find them. */
export function runtimeProbes(terms: ProbeTerms): RuntimeProbes {
  const { env, runtimes: known } = terms;
  const path = env.PATH ?? "";
  const named = (id: string): Runtime => {
    const found = known.find((runtime) => runtime.id === id);
    if (found === undefined) throw new Error(`there is no runtime ${id}`);
    return found;
  };
  const shell = (runtime: Runtime): Record<string, string> => ({
    ...allowedEnvironment(env, runtime.environment),
    HOME: env.HOME ?? "/",
    PATH: path,
  });
  return {
    broken: terms.broken,
    all: known.map(({ id, program, guardLine, drivers, environment, advice }) => ({
      id,
      file: terms.files.get(id) ?? null,
      program,
      guarded: guardLine !== null,
      drivers: drivers.map(({ id: driver, abilities, steer }) => ({ ...abilities, id: driver, steer: steer !== null })),
      environment,
      advice,
    })),
    program: async (id) => {
      const { program, versionArgs } = named(id);
      if (program === null) return ok(null);
      const memory = join(terms.state, "run", "programs.json");
      const probed = await probeProgram({ program, versionArgs, path, memory, confine: terms.confine });
      if (probed.ok) return ok({ at: Bun.which(program, { PATH: path }) ?? program, version: probed.value.version });
      const { refusal } = probed;
      if (refusal.kind === "missing") return no(`${program} is not on the PATH`);
      return no(`${refusal.at}${refusal.kind === "unseen" ? ", confined by the system" : ""}: ${refusal.said}`);
    },
    login: async (id) => {
      const runtime = named(id);
      return loginOf(runtime, shell(runtime));
    },
    guardProblem: async (id) => {
      const runtime = named(id);
      return guardProblem(terms, runtime, shell(runtime));
    },
  };
}

async function loginOf(runtime: Runtime, env: Readonly<Record<string, string>>): Promise<LoginStanding> {
  const { program, login, footprint } = runtime;
  if (login === undefined || program === null) return { kind: "unknown" };
  const variable = login.variables.find((name) => (env[name] ?? "") !== "");
  if (variable !== undefined) return { kind: "seen", by: variable };
  const home = env.HOME ?? "/";
  const file = login.files.map((name) => placeOf(name, home, footprint, env)).find((path) => existsSync(path));
  if (file !== undefined)
    return { kind: "seen", by: file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file };
  const at = Bun.which(program, { PATH: env.PATH ?? "" });
  if (login.status === null || at === null) return { kind: "missing", certain: at !== null && login.certain };
  const says = await exitsWell([at, ...login.status], env);
  if (says === "late") return { kind: "unknown" };
  return says
    ? { kind: "seen", by: [program, ...login.status].join(" ") }
    : { kind: "missing", certain: login.certain };
}

/** Tries the guard in a directory that is deleted afterwards, without using an earlier result. */
async function guardProblem(
  { rulesFor, version }: ProbeTerms,
  { id, guardLine }: Runtime,
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  if (guardLine === null) return undefined;
  const dir = mkdtempSync(join(tmpdir(), "ov-guard-"));
  try {
    mkdirSync(join(dir, "run"));
    const text = JSON.stringify({ ...rulesFor(dir), off: false });
    const rules = join(dir, "guard.json");
    writeFileSync(rules, text, { mode: 0o600 });
    const program = selfCommand();
    const asks = guardLine({ program, rules, digest: randomIds.digest(text) });
    return await guardTrial(dir, version).problem({ asks, program, runtime: id, cwd: dir, env });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
