import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hookEvents } from "../domain/hook/hook-event.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import { invalid, type Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import { writeAtomically } from "../host/atomic-file.ts";
import { type SettingsFile, settingsFile } from "../host/settings-file.ts";
import { hooksStanding } from "../runtimes/claude/hooks-standing.ts";
import {
  freshSettings,
  installedEvents,
  settingsPath as path,
  withHooks,
  withoutHooks,
} from "../runtimes/claude/settings-text.ts";
import type { HooksFacet } from "../surfaces/cli/facets/hooks.ts";
import { operatorOnly } from "./operator-only.ts";
import type { Environment } from "./project.ts";

/** What the file was before we changed it, and after: to give its bytes back when nobody touched it since. */
interface Memory {
  readonly before: string | null;
  readonly after: string;
}

/** The hooks of the project at `root`, in the settings of its user. */
export function makeHooksFacet({ root, state }: ProjectPlace, env: Environment): HooksFacet {
  const file = settingsFile(join(root, path));
  const memoryPath = join(state, "run", "hooks-before.json");
  const forbidden = (action: string): Promise<Refusal | undefined> => operatorOnly(state, env, action);
  return {
    install: async ({ force }) => {
      const refusal = await forbidden("install hooks");
      if (refusal !== undefined) return no(refusal);
      const given = read(file);
      if (!given.ok) return given;
      const before = given.value;
      const bare = force && before !== undefined ? freeOfOurs(before, recall(memoryPath)) : ok(before);
      const next = bare.ok ? installed(bare.value) : bare;
      if (!next.ok) return next;
      const changed = next.value !== before;
      if (changed) {
        remember(memoryPath, before, next.value);
        file.write(next.value);
      }
      return ok({ path, changed });
    },
    uninstall: async () => {
      const refusal = await forbidden("uninstall hooks");
      if (refusal !== undefined) return no(refusal);
      const given = read(file);
      if (!given.ok) return given;
      if (given.value === undefined) return ok({ path, changed: false });
      const left = uninstalled(given.value, recall(memoryPath));
      if (!left.ok) return left;
      const changed = left.value !== given.value;
      if (left.value === undefined) file.remove();
      else if (changed) file.write(left.value);
      rmSync(memoryPath, { force: true });
      return ok({ path, changed });
    },
    status: async () => {
      const given = read(file);
      if (!given.ok) return given;
      const found = given.value === undefined ? { ok: true as const, events: [] } : installedEvents(given.value);
      if (!found.ok) return unusable(found.problem);
      const missing = hookEvents.filter((event) => !found.events.some((known) => known === event));
      return ok({ path, sourceExists: true, installed: missing.length === 0, missing });
    },
    standing: async () => {
      const given = read(file);
      const lastWritten = recall(memoryPath)?.after;
      const understood = given.ok && given.value !== undefined ? installedEvents(given.value) : undefined;
      // Where we never wrote, what cannot be read is nobody's business but its owner's.
      if (lastWritten === undefined && (!given.ok || understood?.ok === false)) return ok({ path, state: "missing" });
      if (!given.ok) return given;
      if (understood?.ok === false) return unusable(understood.problem);
      const text = given.value;
      return ok({ path, state: text === undefined ? "missing" : hooksStanding({ text, lastWritten }) });
    },
  };
}

const unusable = (problem: string): { readonly ok: false; readonly refusal: Refusal } =>
  no(invalid("settings", `cannot be used: ${problem}; the file was not changed`, { value: path }));

function read(file: SettingsFile): Result<string | undefined, Refusal> {
  try {
    return ok(file.read());
  } catch (error) {
    if (error instanceof TypeError) return unusable("it is not text in UTF-8");
    if (error instanceof Error && "code" in error) return unusable(`it cannot be read (${error.code})`);
    throw error;
  }
}

function installed(text: string | null | undefined): Result<string, Refusal> {
  if (text === undefined || text === null) return ok(freshSettings());
  const next = withHooks(text);
  return next.ok ? ok(next.text) : unusable(next.problem);
}

/** Undefined when nothing is left that was there before us. */
function uninstalled(text: string, memory: Memory | undefined): Result<string | undefined, Refusal> {
  if (memory?.after === text) return ok(memory.before ?? undefined);
  if (text === freshSettings()) return ok(undefined);
  const left = withoutHooks(text);
  return left.ok ? ok(left.text) : unusable(left.problem);
}

/** Only what is free of our entries is worth going back to. */
function remember(memoryPath: string, before: string | undefined, after: string): void {
  const bare = before === undefined ? ok(null) : freeOfOurs(before, recall(memoryPath));
  if (!bare.ok) return void rmSync(memoryPath, { force: true });
  writeAtomically(memoryPath, JSON.stringify({ before: bare.value, after } satisfies Memory), 0o600);
}

/** The bytes from before our entries came, where they are known; else what is left without them, null for nothing. */
function freeOfOurs(text: string, earlier: Memory | undefined): Result<string | null, Refusal> {
  const known = installedEvents(text);
  if (!known.ok || known.events.length === 0) return ok(text);
  if (earlier?.after === text) return ok(earlier.before);
  const bare = withoutHooks(text);
  if (!bare.ok) return unusable(bare.problem);
  return ok(/^\s*\{\s*\}\s*$/.test(bare.text) ? null : bare.text);
}

function recall(memoryPath: string): Memory | undefined {
  if (!existsSync(memoryPath)) return undefined;
  try {
    const value: unknown = JSON.parse(readFileSync(memoryPath, "utf8"));
    return isMemory(value) ? value : undefined;
  } catch (error) {
    // Without it our entries are taken out one by one, which is as good for everybody but the curious about spaces.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const isMemory = (value: unknown): value is Memory =>
  typeof value === "object" &&
  value !== null &&
  "before" in value &&
  (value.before === null || typeof value.before === "string") &&
  "after" in value &&
  typeof value.after === "string";
