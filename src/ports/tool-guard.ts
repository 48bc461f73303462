import type { GuardMeans } from "../domain/guard/means.ts";

/** What the guard of agents' tools needs of the machine. It is asked before each use of a tool, so it opens nothing else. */
export interface ToolGuard {
  /** The rules in a file; undefined when they are missing or cannot be read, for whatever reason. */
  rulesIn(file: string): string | undefined;
  /** The file with the rules that an agent of this project was given before its turn. */
  rulesFileOf(agentName: string): Promise<string>;
  digest(text: string): string;
  means(): Promise<GuardMeans>;
}
