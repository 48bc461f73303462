import type { HookEvent } from "../domain/hook/hook-event.ts";
import type { GeneratedState } from "../domain/project/generated-state.ts";
import type { Result } from "../domain/result.ts";

/** What the settings file was before our entries came, and as we last wrote it. */
export interface HookMemory {
  /** Null: there was no file. */
  readonly before: string | null;
  readonly after: string;
}

/** How the settings of one coding agent hold our hooks. What cannot be understood is answered with the problem. */
export interface HookSettingsFormat {
  /** The settings file, relative to the project. */
  readonly path: string;
  /** The settings where there were none. */
  fresh(): string;
  /** The events that have an entry of ours. */
  events(text: string): Result<readonly HookEvent[], string>;
  add(text: string): Result<string, string>;
  takeOut(text: string): Result<string, string>;
  /** How our entries stand to those that ship; `missing` when there are none. */
  compare(found: { readonly text: string; readonly lastWritten: string | undefined }): GeneratedState;
}

/** The settings of a person's own coding sessions in one project. The file belongs to its user. */
export interface HookSettings {
  readonly format: HookSettingsFormat;
  /** Undefined when there is none; refused with the reason when it cannot be read as text. */
  read(): Result<string | undefined, string>;
  /** Links are followed, and the rights of the file stay as they are. */
  write(text: string): void;
  remove(): void;
  /** Kept outside of the checkout; undefined when we never wrote, or nothing is known of it. */
  recall(): HookMemory | undefined;
  remember(memory: HookMemory | undefined): void;
}
