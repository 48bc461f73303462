import { type HookEvent, hookEvents } from "../../domain/hook/hook.ts";
import type { GeneratedState } from "../../domain/project/generated-state.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { HookSettingsFormat } from "../../ports/project-setup.ts";
import {
  added,
  asList,
  asMap,
  type Branch,
  editJson,
  innerIndent,
  type JsonEdit,
  type Node,
  type Part,
  partOf,
  replaced,
  type Style,
  stringOf,
  without,
} from "../../structured-merge/index.ts";
import { eventNames } from "../shared/hook-format.ts";
import { hookEntry, isEarlierCommand, isOurCommand } from "./hooks.ts";

/** Where Claude Code looks for settings of one person and one project. */
const settingsPath = ".claude/settings.local.json";

/** The settings of Claude Code, as our hooks are put into them. */
export const claudeHookSettings: HookSettingsFormat = {
  path: settingsPath,
  fresh: freshSettings,
  events: (text) => {
    const found = installedEvents(text);
    return found.ok ? ok(found.events) : no(found.problem);
  },
  add: (text) => resultOf(withHooks(text)),
  takeOut: (text) => resultOf(withoutHooks(text)),
  compare: hooksStanding,
};

const resultOf = (edit: JsonEdit): Result<string, string> => (edit.ok ? ok(edit.text) : no(edit.problem));

/** A settings file with nothing but our entries. */
export function freshSettings(): string {
  return `${JSON.stringify({ hooks: Object.fromEntries(hookEvents.map((event) => [eventNames[event], [entry(event)]])) }, null, "\t")}\n`;
}

/** The settings with an entry of ours for each event that has none; the user's own stay where and as they are. */
export function withHooks(text: string): JsonEdit {
  const cleared = editJson(text, (root) => strip(root, isEarlierCommand));
  if (!cleared.ok) return cleared;
  let edited = cleared.text;
  for (const event of hookEvents) {
    const next = editJson(edited, (root, style) => withHook(root, event, style));
    if (!next.ok) return next;
    edited = next.text;
  }
  return { ok: true, text: edited };
}

/** The settings without our entries, and without lists and maps that are empty then. */
export function withoutHooks(text: string): JsonEdit {
  return editJson(text, (root) => strip(root, isOurCommand));
}

/** The events that have an entry of ours; a problem when the file cannot be read. */
export function installedEvents(
  text: string,
): { readonly ok: true; readonly events: readonly HookEvent[] } | Extract<JsonEdit, { ok: false }> {
  let events: readonly HookEvent[] = [];
  const read = editJson(text, (root) => {
    events = hookEvents.filter((event) => listOf(root, event)?.parts.some(isOurs) === true);
    return root;
  });
  return read.ok ? { ok: true, events } : read;
}

const entry = (event: HookEvent) => hookEntry(event, { failClosed: false });

const hooksKey = "hooks";

function withHook(root: Branch, event: HookEvent, style: Style): Branch {
  const name = eventNames[event];
  const hooks = partOf(root, hooksKey);
  const own = entry(event);
  if (hooks === undefined) return added({ branch: root, indent: "", key: hooksKey }, { [name]: [own] }, style);
  const map = asMap(hooks.value, hooksKey);
  const list = partOf(map, name);
  const indent = innerIndent(root, "", style.unit);
  if (list === undefined) {
    return replaced(root, hooks, added({ branch: map, indent, key: name }, [own], style));
  }
  const entries = asList(list.value, `hooks.${name}`);
  if (entries.parts.some(isOurs)) return root;
  const deeper = innerIndent(map, indent, style.unit);
  const longer = added({ branch: entries, indent: deeper }, own, style);
  return replaced(root, hooks, replaced(map, list, longer));
}

function listOf(root: Branch, event: HookEvent): Branch | undefined {
  const hooks = partOf(root, hooksKey);
  const list = hooks === undefined ? undefined : partOf(asMap(hooks.value, hooksKey), eventNames[event]);
  return list === undefined ? undefined : asList(list.value, `hooks.${eventNames[event]}`);
}

type Recognise = (command: string) => boolean;

const isOurs = ({ value }: Part): boolean => commandsOf(value).some((part) => isCommand(part, isOurCommand));

/** The commands of an entry; none for something that is written in another way. */
function commandsOf(entry: Node): readonly Part[] {
  const list = entry.kind === "map" ? partOf(entry, hooksKey)?.value : undefined;
  return list?.kind === "list" ? list.parts : [];
}

const isCommand = ({ value }: Part, recognise: Recognise): boolean =>
  value.kind === "map" && recognise(stringOf(partOf(value, "command")?.value) ?? "");

/** Without the commands that are recognised, and without lists and maps that are empty then. */
function strip(root: Branch, recognise: Recognise): Branch {
  const hooks = partOf(root, hooksKey);
  if (hooks === undefined) return root;
  const map = asMap(hooks.value, hooksKey);
  let left = map;
  for (const part of map.parts) {
    if (part.value.kind !== "list") continue;
    const entries = stripEntries(part.value, recognise);
    if (entries === part.value) continue;
    left = entries.parts.length === 0 ? without(left, [part]) : replaced(left, part, entries);
  }
  if (left === map) return root;
  return left.parts.length === 0 ? without(root, [hooks]) : replaced(root, hooks, left);
}

function stripEntries(entries: Branch, recognise: Recognise): Branch {
  let left = entries;
  for (const part of entries.parts) {
    const commands = commandsOf(part.value);
    const ours = commands.filter((command) => isCommand(command, recognise));
    if (ours.length === 0) continue;
    // A person may have put a command of their own into our entry.
    left = ours.length === commands.length ? without(left, [part]) : replaced(left, part, thinned(part.value, ours));
  }
  return left;
}

function thinned(entry: Node, ours: readonly Part[]): Node {
  if (entry.kind !== "map") return entry;
  const list = partOf(entry, hooksKey);
  return list?.value.kind === "list" ? replaced(entry, list, without(list.value, ours)) : entry;
}

interface HooksFound {
  /** The settings as they are. */
  readonly text: string;
  /** The settings as we last wrote them; undefined when that is not known. */
  readonly lastWritten: string | undefined;
}

/**
 * How our entries in the settings stand to those that ship; `missing` when there are none. The rest of the file belongs
 * to its user and is not looked at.
 */
export function hooksStanding({ text, lastWritten }: HooksFound): GeneratedState {
  const found = ownEntries(text);
  if (found === undefined) return "unknown";
  if (found.every(({ entries }) => entries.length === 0)) return "missing";
  const ships = hookEvents.map((event) => ({ event, entries: [hookEntry(event, { failClosed: false })] }));
  if (same(found, ships)) return "current";
  const written = lastWritten === undefined ? undefined : ownEntries(lastWritten);
  if (written === undefined) return "unknown";
  if (same(found, written)) return "outdated";
  return same(written, ships) ? "edited" : "diverged";
}

interface EventEntries {
  readonly event: HookEvent;
  readonly entries: readonly unknown[];
}

const same = (one: readonly EventEntries[], other: readonly EventEntries[]): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** The entries with a command of ours, event by event; undefined for a text that is not plain JSON. */
function ownEntries(text: string): readonly EventEntries[] | undefined {
  const settings = parsed(text);
  if (settings === undefined) return undefined;
  const hooks = member(settings.value, "hooks");
  return hookEvents.map((event) => {
    const list = member(hooks, eventNames[event]);
    return { event, entries: Array.isArray(list) ? list.filter(isOurEntry) : [] };
  });
}

function isOurEntry(entry: unknown): boolean {
  const commands = member(entry, "hooks");
  return Array.isArray(commands) && commands.some((hook) => isOurCommand(String(member(hook, "command"))));
}

const member = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text.replace(/^\ufeff/, "")) };
  } catch (error) {
    // A file with comments cannot be read here; the caller reports the state as unknown.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
