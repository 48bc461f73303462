import { type HookEvent, hookEvents } from "../../domain/hook/hook.ts";
import type { GeneratedState } from "../../domain/project/generated-state.ts";
import { claudeEvents, hookEntry, isOurCommand } from "./hooks.ts";

export interface HooksFound {
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
    const list = member(hooks, claudeEvents[event]);
    return { event, entries: Array.isArray(list) ? list.filter(isOurs) : [] };
  });
}

function isOurs(entry: unknown): boolean {
  const commands = member(entry, "hooks");
  return Array.isArray(commands) && commands.some((hook) => isOurCommand(String(member(hook, "command"))));
}

const member = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text.replace(/^\ufeff/, "")) };
  } catch (error) {
    // With comments in it, nobody can say what our entries were; the caller reports it as not known.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
