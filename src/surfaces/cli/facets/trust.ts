import type { Refusal } from "../../../domain/refusal.ts";
import type { Result } from "../../../domain/result.ts";
import type { FilterStanding } from "../../../domain/trust/filters.ts";

/** One program that git's configuration or the repository names, or attributes that it has, and whether they count. */
export interface TrustView {
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

/** Which programs of the repository the operator has confirmed. */
export interface TrustFacet {
  list(): Promise<readonly TrustView[]>;
  /** Confirms them as they are now. For the operator only; a name that is not listed is refused and changes nothing. */
  add(names: readonly string[]): Promise<Result<readonly TrustView[], Refusal>>;
  remove(names: readonly string[]): Promise<Result<readonly TrustView[], Refusal>>;
  /** Throws `filters-not-ready` where files of the project cannot be checked out as plain git would. */
  check(): Promise<void>;
}
