import { existsSync, lstatSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ProjectPlace } from "../domain/project/place.ts";
import { no, ok } from "../domain/result.ts";
import type { HookMemory, HookSettings, HookSettingsFormat } from "../ports/project-setup.ts";
import { writeAtomically } from "./file-access.ts";

export function hookSettings({ root, state }: ProjectPlace, format: HookSettingsFormat): HookSettings {
  const file = join(root, format.path);
  const memory = join(state, "run", "hooks-before.json");
  return {
    format,
    read: () => {
      if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return ok(undefined);
      try {
        return ok(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(file)));
      } catch (error) {
        if (error instanceof TypeError) return no("it is not text in UTF-8");
        if (error instanceof Error && "code" in error) return no(`it cannot be read (${error.code})`);
        throw error;
      }
    },
    write: (text) => {
      const there = statSync(file, { throwIfNoEntry: false });
      const mode = there === undefined ? undefined : there.mode & 0o777;
      writeAtomically(there === undefined ? file : realpathSync(file), text, mode);
    },
    remove: () => rmSync(file, { force: true }),
    recall: () => (existsSync(memory) ? memoryIn(readFileSync(memory, "utf8")) : undefined),
    remember: (known) =>
      known === undefined ? rmSync(memory, { force: true }) : writeAtomically(memory, JSON.stringify(known), 0o600),
  };
}

function memoryIn(text: string): HookMemory | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMemory(value) ? value : undefined;
  } catch (error) {
    // Without it our entries are taken out one by one, and only the spaces around them may differ.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const isMemory = (value: unknown): value is HookMemory =>
  typeof value === "object" &&
  value !== null &&
  "before" in value &&
  (value.before === null || typeof value.before === "string") &&
  "after" in value &&
  typeof value.after === "string";
