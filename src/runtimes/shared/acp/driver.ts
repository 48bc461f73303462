import type { Abilities, Driver, LaunchPlan, LaunchRequest } from "../../../ports/runtime.ts";
import { type AcpDialect, acpReader, call } from "./exchange.ts";

/** A program that speaks the Agent Client Protocol (version 1), and what differs between such programs. */
export interface AcpProgram extends AcpDialect {
  plan(request: LaunchRequest): Pick<LaunchPlan, "argv" | "env" | "files">;
  /** `session`: our tool server is named where the conversation begins. `plan`: the plan names it in the program's own way. */
  readonly toolsBy: "session" | "plan";
  /** The option of the conversation that chooses the model; null where the plan does. */
  readonly modelOption: string | null;
  /** What a prompt looks like that holds nothing that the program would take for more than words. */
  readonly words?: (prompt: string) => string;
  readonly abilities: Pick<Abilities, "resume" | "tools">;
  /** It does not leave at the end of its input. */
  readonly stays?: true;
}

/** What a turn begins with, once the program has said what it can do. */
export interface Opening {
  readonly cwd: string;
  readonly mcpServers: readonly object[];
  readonly prompt: string;
  readonly resume: string | null;
  /** The value of the option that chooses the model; null where it is not chosen in that way. */
  readonly model: string | null;
}

/**
 * The driver `acp`: requests and answers as lines of JSON in both directions. What we say depends on what the program
 * answered, so only the first line is given at once; the reader says the rest. The program is offered neither files nor
 * terminals of ours: it uses its own, in its own process.
 */
export const acpDriver = (program: AcpProgram): Driver => ({
  id: "acp",
  input: "open",
  // A person's own session has neither the settings of a turn nor its guard.
  abilities: {
    ...program.abilities,
    terminal: false,
    costLimit: false,
    tokens: program.aside === undefined ? "turn" : "answer",
  },
  instructions: "prompt",
  steer: null,
  ...(program.stays === true ? { stays: true } : {}),
  launch: (request) => ({
    ...program.plan(request),
    input: call(0, "initialize", {
      protocolVersion: 1,
      clientInfo: { name: "overstory", title: "Overstory", version: "1" },
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    }),
    opening: JSON.stringify(openingOf(program, request)),
  }),
  reader: (_, opening) => acpReader(program, opening),
});

const openingOf = (
  { toolsBy, modelOption, words = (prompt) => prompt }: AcpProgram,
  { cwd, prompt, resume, model, tools, toolVariables }: LaunchRequest,
): Opening => ({
  cwd,
  mcpServers:
    tools === null || toolsBy === "plan"
      ? []
      : [{ name: tools.name, command: tools.command, args: tools.args, env: variables(toolVariables) }],
  prompt: words(prompt),
  resume,
  model: modelOption === null ? null : model,
});

/** Some programs do not hand their own environment on. */
const variables = (values: Readonly<Record<string, string>>): readonly object[] =>
  Object.entries(values).map(([name, value]) => ({ name, value }));
