import type { BrokenRuntime } from "../../domain/agent/runtime-spec.ts";
import type { Finding, ListedRuntime, ProbedRuntime } from "../../usecases/runtimes/examine.ts";
import type { KnownLimit } from "../../usecases/runtimes/limits.ts";
import { iso } from "../values.ts";

/** A runtime that agents may have, with what each of its drivers can do. */
export const runtimeView = ({ id, file, program, guarded, drivers, usedFor, environment }: ListedRuntime) => ({
  runtime: id,
  file,
  program,
  guarded,
  usedFor,
  environment,
  drivers: drivers.map((driver) => ({
    driver: driver.id,
    resume: driver.resume,
    terminal: driver.terminal,
    costLimit: driver.costLimit,
    tokens: driver.tokens,
    tools: driver.tools,
    steer: driver.steer,
  })),
});

/** A runtime file of the project that cannot be used. `line` is 0 where the file as a whole is meant. */
export const brokenRuntimeView = ({ id, file, line, column, key, message }: BrokenRuntime) => ({
  runtime: id,
  file,
  line,
  column,
  key,
  message,
});

/**
 * The same as it is found on this machine. `login` is null where nothing tells. No program tells its quota unasked, so
 * `quota` is the newest limit that an agent met; null where none did.
 */
export const probedRuntimeView = (runtime: ProbedRuntime) => ({
  ...runtimeView(runtime),
  path: runtime.found?.at ?? null,
  version: runtime.found?.version ?? null,
  problem: runtime.problem,
  login: runtime.login.kind === "unknown" || runtime.problem !== null ? null : runtime.login.kind === "seen",
  loginBy: runtime.login.kind === "seen" ? runtime.login.by : null,
  quota: runtime.limit === null ? null : quotaView(runtime.limit),
});

const quotaView = ({ agent, seenAt, resetAt, said }: KnownLimit) => ({
  agent,
  seenAt: iso(seenAt),
  resetAt: iso(resetAt),
  said,
});

export const runtimeFindingView = ({ runtime, check, level, says, next }: Finding) => ({
  runtime,
  check,
  level,
  says,
  next,
});
