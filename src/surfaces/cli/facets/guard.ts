import type { GuardRequest } from "../../../domain/guard/decide.ts";
import type { Verdict } from "../../../domain/guard/verdict.ts";

/** The guard of agents' tools, with the rules that each was given before its turn. */
export interface GuardFacet {
  /** By the rules in a file. Rules that are missing, cannot be read or have another digest deny. */
  byFile(file: string, use: GuardRequest, digest?: string): Promise<Verdict>;
  /** By the rules of an agent of this project. */
  byAgent(name: string, use: GuardRequest, digest?: string): Promise<Verdict>;
}
