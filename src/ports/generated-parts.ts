import type { GeneratedState } from "../domain/project/generated-state.ts";
import type { GeneratedFile } from "../domain/project/generated-texts.ts";
import type { Refusal } from "../domain/refusal.ts";
import type { RoleText } from "../domain/role/override.ts";

/** One thing that the program generated into a project, as it is found. */
export interface GeneratedPart {
  readonly part: GeneratedFile | "instructions" | "hooks";
  /** Relative to the root. */
  readonly path: string;
  readonly state: GeneratedState;
  /** Why it cannot be written, whoever asks. */
  readonly stuck?: string;
  /** Writes what ships, all of it or nothing. A refusal when that could not be done. */
  write(): Promise<Refusal | undefined>;
}

/** What the program generated into a project, besides hooks. */
export interface GeneratedParts {
  /** A file in `.overstory/` that is ours from its first byte to its last. */
  file(part: GeneratedFile): GeneratedPart;
  /** Our section in the instruction file of a person's own sessions; undefined where there is none. */
  guide(runtime: string): GeneratedPart | undefined;
  /** Keeps a copy of a file among our own, where git ignores it. Answers its path, relative to the root as well. */
  keepCopy(path: string): string;
  /** Texts of the project's own, with the names of those files that are there. `dir` is as the settings have it. */
  ownTexts(dir: string): readonly (RoleText & { readonly replacement: string; readonly names: readonly string[] })[];
}
