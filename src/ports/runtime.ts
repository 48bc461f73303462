import type { Guard } from "../domain/hook/claude-hooks.ts";
import type { FailureCause, RuntimeAdvice } from "../domain/turn/failure.ts";
import type { TurnEvent } from "../domain/turn/turn-event.ts";

export interface LaunchRequest {
  readonly model: string | null;
  /** The provider session to go on with; null starts a new one. */
  readonly resume: string | null;
  /** What the agent is told in this turn. */
  readonly prompt: string;
  /** A file with the agent's instructions that its CLI does not find by itself. */
  readonly instructions?: string;
  /** JSON that tells the CLI how to start our tool server. It holds no secret: the server inherits the agent's token. */
  readonly mcpConfig?: string;
  /** What the turn may cost; programs that can count it themselves end it there. */
  readonly maxCostUsd?: number;
  /** What answers whether a tool may be used, for programs that ask. */
  readonly guard?: Guard;
}

/** A conversation that a person goes on with. */
export interface InteractiveRequest extends Pick<LaunchRequest, "model" | "instructions" | "mcpConfig" | "guard"> {
  readonly resume: string;
}

export interface LaunchPlan {
  readonly argv: readonly string[];
  /** Added to the agent's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Written to the agent's input, which is then closed. */
  readonly input: string;
}

/** Turns the lines of one turn's output into events. Keeps what it must remember between lines; never throws. */
export type LineReader = (line: string) => readonly TurnEvent[];

/** One foreign agent CLI, as data and two pure functions. */
export interface Runtime {
  readonly id: string;
  readonly instructionFile: string;
  /** The program that must be on PATH; it answers to --version. Absent where it is our own. */
  readonly program?: string;
  /** Variables of a person's shell that this CLI needs: names, or prefixes ending in `*`. */
  readonly environment: readonly string[];
  /** What it says on its error output when it leaves before it began, and would say again however often it is started. */
  readonly complaints?: readonly { readonly says: string; readonly cause: FailureCause }[];
  /** What its user would do about a failure, where our own words would be vague. */
  readonly advice?: RuntimeAdvice;
  launch(request: LaunchRequest): LaunchPlan;
  /** The same conversation for a person at a terminal. Absent where a CLI cannot be opened on one. */
  interactive?(request: InteractiveRequest): LaunchPlan;
  reader(): LineReader;
}
