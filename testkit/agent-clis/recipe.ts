import { join } from "node:path";
import { type Fields, number } from "../../src/runtimes/shared/json-fields.ts";
import type { Dialect } from "../fake-model/dialect.ts";
import type { Usage } from "../fake-model/script.ts";

/** How to run one real agent CLI for one turn, unattended, against the fake model, and how to read what it prints. */
export interface Recipe {
  /** What the program itself says when it is asked for its version. */
  readonly version: string;
  readonly dialect: Dialect["name"];
  /** Arguments after the program, for the first turn of a session or for a later one of it. */
  argv(turn: TurnOfCli): readonly string[];
  env(place: Place): Readonly<Record<string, string>>;
  /** Files that it needs, below its home. */
  files(place: Place): Readonly<Record<string, string>>;
  /**
   * The report of a turn, from the lines of its stream. `usageFile`: the content of `usageFileOf`, if the program wrote
   * it.
   */
  read(lines: readonly Fields[], usageFile: Fields): SaidByCli;
  /** Its figures are those of the turn, or sums over all turns of the session. */
  readonly usageIsOf: "turn" | "session";
  /** Where a CLI does not know them, tokens written to a cache are input. */
  readonly countsCacheWrites: boolean;
  /** How the model sees the tool `note` of the MCP server `lab`; null where the CLI knows no such servers. */
  readonly nameOfTool: string | null;
  /** The exit code after a refused key (HTTP 401). */
  readonly exitWhenRefused: number;
  /** What one must know to drive it; all of it was seen with this version. */
  readonly facts: readonly string[];
}

export interface Place {
  /** The fake model. */
  readonly url: string;
  readonly home: string;
  /** An MCP server that the CLI is to start. */
  readonly server: ToolServer | undefined;
}

export interface ToolServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

export interface TurnOfCli extends Place {
  readonly prompt: string;
  /** The session that is gone on with. */
  readonly session: string | undefined;
}

export interface SaidByCli {
  readonly session: string | undefined;
  /** The last answer. */
  readonly text: string | undefined;
  readonly usage: Usage;
  /** What the CLI says went wrong, if it ended the turn. */
  readonly error: string | undefined;
}

/** Looks like a key, and is a word that no output has by itself: one CLI masks it wherever it occurs. */
export const fakeKey = "sk-fake-0123456789";

export const usageFileOf = (home: string): string => join(home, "usage.json");

export const sum = (counts: readonly unknown[]): number =>
  counts.reduce<number>((all, one) => all + (number(one) ?? 0), 0);
