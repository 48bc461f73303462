import type { RuntimeSpec } from "../../domain/agent/runtime-spec.ts";
import type { Runtime } from "../../ports/runtime.ts";
import { acpDriver } from "../shared/acp/driver.ts";
import { acpToolUse } from "../shared/acp/tool-calls.ts";
import { causeOf } from "../shared/exec-json.ts";

/** A runtime by its description in a file of the project. Its one driver is `acp`. */
export const describedRuntime = (spec: RuntimeSpec): Runtime => ({
  id: spec.id,
  program: spec.program,
  versionArgs: spec.versionArgs,
  instructionFile: spec.instructionFile,
  guardedFiles: spec.guardedFiles,
  // It is asked over the protocol.
  guardLine: null,
  gitAuthor: "settings",
  environment: spec.environment,
  footprint: { ...spec.home, moves: {}, reads: [], writes: [] },
  ...(spec.login.variables.length + spec.login.files.length === 0
    ? {}
    : { login: { variables: spec.login.variables, files: spec.login.files, status: null, certain: false } }),
  complaints: [],
  advice: {
    ...(spec.login.advice === null ? {} : { login: spec.login.advice }),
    program: `make sure that this shell runs: ${[spec.program, ...spec.versionArgs].join(" ")}`,
  },
  drivers: [
    acpDriver({
      plan: ({ model }) => ({
        argv: [
          spec.program,
          ...spec.args,
          ...(model === null || spec.model.flag === null ? [] : [spec.model.flag, model]),
        ],
        env: spec.variables,
        files: [],
      }),
      toolsBy: "session",
      modelOption: spec.model.option,
      mode: spec.mode,
      usage: spec.usage,
      nameOf: ({ name }) => name,
      toolUse: acpToolUse,
      causeOf,
      abilities: { resume: spec.resume, tools: spec.tools },
      ...(spec.stays ? { stays: true } : {}),
    }),
  ],
  terminal: () => ({ argv: [spec.program], env: spec.variables, input: "", files: [] }),
});
