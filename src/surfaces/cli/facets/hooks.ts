import type { GeneratedState } from "../../../domain/project/generated-state.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import type { Result } from "../../../domain/result.ts";

export interface HooksChange {
  /** The settings file, relative to the project. */
  readonly path: string;
  readonly changed: boolean;
}

export interface HooksStatus {
  readonly path: string;
  /** There is something to install: the entries come with the program, so always. */
  readonly sourceExists: boolean;
  /** Every event has its entry. */
  readonly installed: boolean;
  readonly missing: readonly string[];
}

/** The hooks of a person's own sessions in this project. A settings file that cannot be understood stays untouched. */
export interface HooksFacet {
  /** With `force`, entries of ours that somebody changed are written anew. */
  install(options: { readonly force: boolean }): Promise<Result<HooksChange, Refusal>>;
  /** Takes out our entries alone; the file is as it was before when nobody changed it since. */
  uninstall(): Promise<Result<HooksChange, Refusal>>;
  status(): Promise<Result<HooksStatus, Refusal>>;
  /** How our entries stand to those that ship; `missing` when they are not installed. */
  standing(): Promise<Result<{ readonly path: string; readonly state: GeneratedState }, Refusal>>;
}
