import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hookEvents } from "../domain/hook/hook-event.ts";
import { freshSettings, installedEvents, withHooks, withoutHooks } from "../domain/hook/settings-text.ts";
import { invalid, type Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import { writeAtomically } from "../host/atomic-file.ts";
import { type SettingsFile, settingsFile } from "../host/settings-file.ts";
import type { HooksFacet } from "../surfaces/cli/facets/hooks.ts";
import { operatorOnly } from "./operator-only.ts";
import type { Environment } from "./project.ts";
import { overstoryDir } from "./self.ts";

/** Where Claude Code looks for settings of one person and one project. */
const path = ".claude/settings.local.json";

/** What the file was before we changed it, and after: to give its bytes back when nobody touched it since. */
interface Memory {
  readonly before: string | null;
  readonly after: string;
}

/** The hooks of the project at `root`, in the settings of its user. */
export function makeHooksFacet(root: string, env: Environment): HooksFacet {
  const file = settingsFile(join(root, path));
  const memoryPath = join(overstoryDir(root), "run", "hooks-before.json");
  const forbidden = (action: string): Promise<Refusal | undefined> => operatorOnly(overstoryDir(root), env, action);
  return {
    install: async ({ force }) => {
      const refusal = await forbidden("install hooks");
      if (refusal !== undefined) return no(refusal);
      const given = read(file);
      if (!given.ok) return given;
      const before = given.value;
      const next = before === undefined ? ok(freshSettings()) : installed(before, force);
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

function installed(text: string, force: boolean): Result<string, Refusal> {
  const bare = force ? withoutHooks(text) : { ok: true as const, text };
  const next = bare.ok ? withHooks(bare.text) : bare;
  return next.ok ? ok(next.text) : unusable(next.problem);
}

/** Undefined when nothing is left that was there before us. */
function uninstalled(text: string, memory: Memory | undefined): Result<string | undefined, Refusal> {
  if (memory?.after === text) return ok(memory.before ?? undefined);
  if (text === freshSettings()) return ok(undefined);
  const left = withoutHooks(text);
  return left.ok ? ok(left.text) : unusable(left.problem);
}

/** Only what was free of our entries is worth going back to. */
function remember(memoryPath: string, before: string | undefined, after: string): void {
  const earlier = recall(memoryPath);
  const known = before === undefined ? undefined : installedEvents(before);
  const isOurs = known?.ok === true && known.events.length > 0;
  if (isOurs && earlier?.after !== before) return void rmSync(memoryPath, { force: true });
  const memory: Memory = { before: isOurs ? (earlier?.before ?? null) : (before ?? null), after };
  writeAtomically(memoryPath, JSON.stringify(memory), 0o600);
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
