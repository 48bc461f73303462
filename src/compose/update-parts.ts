import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type GeneratedState, generatedState } from "../domain/project/generated-state.ts";
import { type GeneratedFile, generatedFiles, generatedNames, sealedGuide } from "../domain/project/generated-texts.ts";
import { invalid, type Refusal } from "../domain/refusal.ts";
import { randomIds } from "../host/ids.ts";
import { createFile, replaceFile } from "../host/project/files.ts";
import { putGuide, readGuide } from "../host/project/instruction-file.ts";
import type { HookSettings } from "../ports/hook-settings.ts";
import type { Kept } from "../surfaces/cli/facets/update.ts";
import { compareHooks, installInto } from "../usecases/hooks/settings.ts";

/** One thing that the program generated, as it is found. */
export interface GeneratedPart {
  readonly part: Exclude<Kept["part"], "agentDefs">;
  /** Relative to the root. */
  readonly path: string;
  readonly state: GeneratedState;
  /** Why it cannot be written, whoever asks. */
  readonly stuck?: string;
  /** Writes what ships. A refusal when that could not be done. */
  write(): Promise<Refusal | undefined>;
}

/** A file in `.overstory/` that is ours from its first byte to its last. */
export function filePart(root: string, part: GeneratedFile): GeneratedPart {
  const path = join(".overstory", generatedNames[part]);
  const full = join(root, path);
  const ships = generatedFiles(randomIds.digest)[part];
  const stat = lstatSync(full, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isFile()) {
    return { part, path, state: "unknown", stuck: "is not a plain file", write: async () => undefined };
  }
  const found = stat === undefined ? undefined : readFileSync(full, "utf8");
  return {
    part,
    path,
    state: generatedState({ found, ships }, randomIds.digest),
    write: async () => {
      const written =
        found === undefined ? createFile(full, ships) : await replaceFile(full, { bytes: ships, madeFrom: found });
      // Somebody wrote to it since it was looked at; what they wrote has to be judged anew.
      return written ? undefined : { kind: "busy", what: path };
    },
  };
}

/** Our section in an instruction file; undefined where there is none, for then nobody wanted one. */
export function guidePart(root: string, instructionFile: string): GeneratedPart | undefined {
  const found = readGuide(root, instructionFile);
  if (found.kind === "none") return undefined;
  const { path } = found;
  const part = "instructions";
  if (found.kind === "broken") {
    const stuck = "has the marks overstory:begin and overstory:end, but not as one pair";
    return { part, path, state: "unknown", stuck, write: async () => undefined };
  }
  const ships = sealedGuide(randomIds.digest);
  return {
    part,
    path,
    state: generatedState({ found: found.body, ships }, randomIds.digest),
    write: async () => {
      const put = await putGuide(root, instructionFile, { edited: "replace" });
      return put.kind === "left-alone" ? invalid(path, `was left alone: ${put.why}`) : undefined;
    },
  };
}

/** Our entries in a person's settings; undefined where they are not installed. */
export function hooksPart(settings: HookSettings): GeneratedPart | undefined {
  const { path } = settings.format;
  const standing = compareHooks(settings);
  const part = "hooks";
  if (!standing.ok) {
    const { refusal } = standing;
    const named = refusal.kind === "invalid" ? refusal : { value: undefined, problem: "cannot be used" };
    return {
      part,
      path: named.value ?? "settings",
      state: "unknown",
      stuck: named.problem,
      write: async () => undefined,
    };
  }
  const state = standing.value;
  if (state === "missing") return undefined;
  return {
    part,
    path,
    state,
    write: async () => {
      const installed = installInto(settings, true);
      return installed.ok ? undefined : installed.refusal;
    },
  };
}
