import { hookEvents } from "../../domain/hook/hook.ts";
import type { GeneratedState } from "../../domain/project/generated-state.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag, noFields } from "../../domain/schema/schema.ts";
import type { HookMemory, HookSettings } from "../../ports/project-setup.ts";
import type { Effect } from "../operation.ts";

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

/**
 * Puts the hooks into the settings of a person's own sessions. With `force`, entries of ours that were changed by hand are
 * written anew. A settings file that cannot be understood stays untouched.
 */
export const install: Effect<{ readonly force: boolean }, HooksChange> = {
  kind: "effect",
  request: fields({ force: flag }),
  place: "caller",
  operatorOnly: true,
  action: () => "install hooks",
  run: async (world, { force }) => installInto(await world.hookSettings(), { force }),
};

/** Takes out our entries alone; the file is as it was before when it has not been changed since. */
export const uninstall: Effect<object, HooksChange> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  operatorOnly: true,
  action: () => "uninstall hooks",
  run: async (world) => {
    const settings = await world.hookSettings();
    const { path } = settings.format;
    const given = read(settings);
    if (!given.ok) return given;
    if (given.value === undefined) return ok({ path, changed: false });
    const left = uninstalled(settings, given.value);
    if (!left.ok) return left;
    const changed = left.value !== given.value;
    if (left.value === undefined) settings.remove();
    else if (changed) settings.write(left.value);
    settings.remember(undefined);
    return ok({ path, changed });
  },
};

export const status: Effect<object, HooksStatus> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => {
    const settings = await world.hookSettings();
    const given = read(settings);
    if (!given.ok) return given;
    const found = given.value === undefined ? ok([]) : settings.format.events(given.value);
    if (!found.ok) return no(unusable(settings, found.refusal));
    const missing = hookEvents.filter((event) => !found.value.some((known) => known === event));
    return ok({ path: settings.format.path, sourceExists: true, installed: missing.length === 0, missing });
  },
};

/** How our entries stand to those that ship; `missing` when they are not installed. */
export function compareHooks(settings: HookSettings): Result<GeneratedState, Refusal> {
  const given = read(settings);
  const lastWritten = settings.recall()?.after;
  const understood = given.ok && given.value !== undefined ? settings.format.events(given.value) : undefined;
  // Where we never wrote, a file that cannot be read concerns its owner alone.
  if (lastWritten === undefined && (!given.ok || understood?.ok === false)) return ok("missing");
  if (!given.ok) return given;
  if (understood?.ok === false) return no(unusable(settings, understood.refusal));
  return ok(given.value === undefined ? "missing" : settings.format.compare({ text: given.value, lastWritten }));
}

export function installInto(
  settings: HookSettings,
  { force }: { readonly force: boolean },
): Result<HooksChange, Refusal> {
  const given = read(settings);
  if (!given.ok) return given;
  const before = given.value;
  const bare = force && before !== undefined ? freeOfOurs(settings, before) : ok(before);
  const next = bare.ok ? installed(settings, bare.value) : bare;
  if (!next.ok) return next;
  const changed = next.value !== before;
  if (changed) {
    settings.remember(memoryOf(settings, before, next.value));
    settings.write(next.value);
  }
  return ok({ path: settings.format.path, changed });
}

const unusable = ({ format }: HookSettings, problem: string): Refusal =>
  invalid("settings", `cannot be used: ${problem}; the file was not changed`, { value: format.path });

function read(settings: HookSettings): Result<string | undefined, Refusal> {
  const found = settings.read();
  return found.ok ? found : no(unusable(settings, found.refusal));
}

function installed(settings: HookSettings, text: string | null | undefined): Result<string, Refusal> {
  if (text === undefined || text === null) return ok(settings.format.fresh());
  const next = settings.format.add(text);
  return next.ok ? next : no(unusable(settings, next.refusal));
}

/** Undefined when the file held nothing but our entries. */
function uninstalled(settings: HookSettings, text: string): Result<string | undefined, Refusal> {
  const memory = settings.recall();
  if (memory?.after === text) return ok(memory.before ?? undefined);
  if (text === settings.format.fresh()) return ok(undefined);
  const left = settings.format.takeOut(text);
  return left.ok ? left : no(unusable(settings, left.refusal));
}

/** Only a file without our entries is worth going back to. */
function memoryOf(settings: HookSettings, before: string | undefined, after: string): HookMemory | undefined {
  const bare = before === undefined ? ok(null) : freeOfOurs(settings, before);
  return bare.ok ? { before: bare.value, after } : undefined;
}

/**
 * The bytes of the file before our entries came, where they are known. Otherwise its text without our entries, or null
 * if that is empty.
 */
function freeOfOurs(settings: HookSettings, text: string): Result<string | null, Refusal> {
  const known = settings.format.events(text);
  if (!known.ok || known.value.length === 0) return ok(text);
  const earlier = settings.recall();
  if (earlier?.after === text) return ok(earlier.before);
  const bare = settings.format.takeOut(text);
  if (!bare.ok) return no(unusable(settings, bare.refusal));
  return ok(/^\s*\{\s*\}\s*$/.test(bare.value) ? null : bare.value);
}
