import { existsSync, readFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { generatedState } from "../../domain/project/generated-state.ts";
import {
  type GeneratedFile,
  generatedFiles,
  generatedNames,
  sealedGuide,
} from "../../domain/project/generated-texts.ts";
import { invalid } from "../../domain/refusal.ts";
import { roleList } from "../../domain/role/roles.ts";
import type { Clock } from "../../ports/clock.ts";
import type { GeneratedPart, GeneratedParts } from "../../ports/project-setup.ts";
import { lstatIfThere } from "../file-access.ts";
import { randomIds } from "../ids.ts";
import { sharedDir } from "../project-place.ts";
import { type BuiltInTexts, ownTextFiles, readRoleText } from "../role-texts.ts";
import { createFile, keepCopy, replaceFile } from "./files.ts";
import { instructionFileOf, putGuide, readGuide } from "./instruction-file.ts";

export interface GeneratedPartsTerms {
  readonly root: string;
  /** PATH of the caller: the coding agents on it have instruction files. */
  readonly path: string | undefined;
  readonly clock: Clock;
  readonly builtIn: BuiltInTexts;
}

export const generatedParts = ({ root, path: programs, clock, builtIn }: GeneratedPartsTerms): GeneratedParts => ({
  file: (part) => filePart(root, part),
  guide: (runtime) => guidePart(root, instructionFileOf({ root, path: programs, runtime })),
  keepCopy: (path) => relative(root, keepCopy(join(root, path), clock.now(), join(sharedDir(root), basename(path)))),
  ownTexts: (typed) => {
    const dir = resolve(root, typed);
    return roleList.map(({ capability }) => {
      const { replacement, addition } = ownTextFiles(dir, capability);
      const names = [replacement, addition].filter((file) => existsSync(file)).map((file) => basename(file));
      return { ...readRoleText(builtIn, dir, capability), replacement: relative(root, replacement), names };
    });
  },
});

function filePart(root: string, part: GeneratedFile): GeneratedPart {
  const path = join(".overstory", generatedNames[part]);
  const full = join(root, path);
  const ships = generatedFiles(randomIds.digest)[part];
  const stat = lstatIfThere(full);
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
      // Another program wrote to the file since the look, so its new text has to be judged anew.
      return written ? undefined : { kind: "busy", what: path };
    },
  };
}

function guidePart(root: string, instructionFile: string): GeneratedPart | undefined {
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
