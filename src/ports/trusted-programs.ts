import type { FilterProblem, FilterStanding } from "../domain/trust/filters.ts";

/** One program that git's configuration or the repository names, or attributes that it has, and whether they count. */
export interface ProgramTrust {
  /** As it is confirmed: the name of a filter, `hook:<name>`, or `git:attributes`. */
  readonly name: string;
  readonly kind: "filter" | "hook" | "attributes";
  /** `user` and `confirmed` ones run; `without` is a filter that is done without. */
  readonly standing: FilterStanding;
  /** The commands of a filter, the path of a hook, the files with attributes and settings. */
  readonly runs: readonly string[];
  /** Files of this repository go through it. */
  readonly needed: boolean;
}

/** Which programs of a repository the operator has confirmed. */
export interface TrustedPrograms {
  /** Everything that is needed, and everything that the repository and its submodules themselves name. */
  list(): Promise<readonly ProgramTrust[]>;
  /** Confirms the programs of these names as they are now, or takes that back. */
  change(names: readonly string[], to: "confirmed" | "withdrawn"): Promise<void>;
  /** The filters without which files cannot be checked out as plain git would; empty when all are ready. */
  problems(): Promise<readonly FilterProblem[]>;
}
